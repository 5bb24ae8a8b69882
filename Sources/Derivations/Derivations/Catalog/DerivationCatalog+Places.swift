extension DerivationCatalog {
    /// What places, beacons, hearts, light, air and machines tell.
    static let places: [DerivationKind] = [
        DerivationKind(RunDerivation.kind, keys: RunDerivation.keys) { settings throws(DerivationError) in
            try RunDerivation(settings)
        },
        DerivationKind(GeofenceDerivation.kind, keys: GeofenceDerivation.keys) { settings throws(DerivationError) in
            try GeofenceDerivation(settings)
        },
        DerivationKind(BeaconsDerivation.kind, keys: BeaconsDerivation.keys) { settings throws(DerivationError) in
            try BeaconsDerivation(settings)
        },
        DerivationKind(VibrationDerivation.kind, keys: VibrationDerivation.keys) { settings throws(DerivationError) in
            try VibrationDerivation(settings)
        },
        DerivationKind(AltitudeDerivation.kind, keys: AltitudeDerivation.keys) { settings throws(DerivationError) in
            try AltitudeDerivation(settings)
        },
        DerivationKind(LightDerivation.kind, keys: LightDerivation.keys) { settings throws(DerivationError) in
            try LightDerivation(settings)
        },
        DerivationKind(HeartDerivation.kind, keys: HeartDerivation.keys) { settings throws(DerivationError) in
            try HeartDerivation(settings)
        },
    ]
}
