public import Diagnostics
public import Samples

/// Where a receiver says that it is, with what it knows about that; what it does not know is nil.
public struct PositionFix: Sendable, Hashable {
    /// When.
    public var time: Timestamp
    /// Where.
    public var place: GeoPosition
    /// Metres above mean sea level.
    public var altitude: Double?
    /// The radius in metres within which two of three fixes lie, as far as the receiver can tell.
    public var accuracy: Double?
    /// Metres a second over ground.
    public var speed: Double?
    /// Degrees clockwise from true north.
    public var course: Double?

    /// Makes a fix of which only time and place are known.
    public init(time: Timestamp, place: GeoPosition) {
        self.time = time
        self.place = place
    }

    /// The values of a sample of `location`.
    public var values: [Value] {
        [
            .real(place.latitude), .real(place.longitude), Value(altitude ?? .nan), Value(accuracy ?? .nan),
            Value(speed ?? .nan), Value(course ?? .nan),
        ]
    }
}
