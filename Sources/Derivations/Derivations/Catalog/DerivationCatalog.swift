public import Samples

/// A kind of derivation: what it is called, what can be set, how it is made.
public struct DerivationKind: Sendable {
    /// The `kind` of its `[[derivation]]` table, and its name for `--derive`.
    public let name: String
    /// The keys that it understands.
    public let keys: [String]
    /// Makes one; keys that it does not understand are not looked at.
    public let make: @Sendable (DerivationSettings) throws(DerivationError) -> any Derivation

    /// Makes a kind.
    public init(
        _ name: String,
        keys: [String] = [],
        make: @escaping @Sendable (DerivationSettings) throws(DerivationError) -> any Derivation
    ) {
        self.name = name
        self.keys = keys
        self.make = make
    }
}

/// Every kind of derivation there is.
public enum DerivationCatalog {
    /// All kinds, in the order in which help shows them.
    public static let kinds: [DerivationKind] = motion + places

    /// The kind called `name`.
    public static func kind(_ name: String) -> DerivationKind? {
        kinds.first { $0.name == name }
    }

    /// Makes a derivation of the kind called `name`; a key that this kind does not understand is an error.
    public static func make(
        _ name: String,
        _ settings: DerivationSettings = DerivationSettings()
    ) throws(DerivationError) -> any Derivation {
        guard let kind = kind(name) else {
            throw DerivationError(
                "There is no derivation \"\(name)\". Use one of: \(kinds.map(\.name).joined(separator: ", "))."
            )
        }
        try settings.check(against: kind.keys, of: name)
        return try kind.make(settings)
    }

    /// What people's and devices' movements tell.
    static let motion: [DerivationKind] = [
        DerivationKind(StepsDerivation.kind, keys: StepsDerivation.keys) { settings throws(DerivationError) in
            try StepsDerivation(settings)
        },
        DerivationKind(FloorsDerivation.kind, keys: FloorsDerivation.keys) { settings throws(DerivationError) in
            try FloorsDerivation(settings)
        },
        DerivationKind(AttitudeDerivation.kind, keys: AttitudeDerivation.keys) { settings throws(DerivationError) in
            try AttitudeDerivation(settings)
        },
        DerivationKind(ShakeDerivation.kind, keys: ShakeDerivation.keys) { settings throws(DerivationError) in
            try ShakeDerivation(settings)
        },
        DerivationKind(OrientationDerivation.kind, keys: OrientationDerivation.keys) {
            settings throws(DerivationError) in
            try OrientationDerivation(settings)
        },
        DerivationKind(ActivityDerivation.kind, keys: ActivityDerivation.keys) { settings throws(DerivationError) in
            try ActivityDerivation(settings)
        },
    ]
}
