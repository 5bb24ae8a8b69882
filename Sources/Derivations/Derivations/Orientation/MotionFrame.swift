/// What the attitude's heading is counted from, as on a phone.
enum MotionFrame: String, Sendable, CaseIterable {
    /// Magnetic north as well as the magnetometer tells it, else arbitrary: never missing while the inclination is known.
    case auto
    /// Wherever it was at the start; it drifts slowly.
    case arbitrary
    /// The same, held by the magnetometer.
    case corrected
    /// Magnetic north: x points east, y north.
    case magnetic
    /// True north, by the declination.
    case trueNorth = "true"
}
