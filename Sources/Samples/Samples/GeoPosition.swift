internal import Glibc

/// A place on earth: degrees of WGS 84.
public struct GeoPosition: Sendable, Hashable {
    /// Degrees north, -90 to 90.
    public let latitude: Double
    /// Degrees east, -180 to 180.
    public let longitude: Double

    /// Makes a place; nil when the numbers are none, or not in range.
    public init?(latitude: Double, longitude: Double) {
        guard latitude.magnitude <= 90, longitude.magnitude <= 180 else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Whether this is 0, 0: what broken receivers say when they know nothing.
    public var isNull: Bool { latitude == 0 && longitude == 0 }

    /// How far `other` is away, in metres along the ground.
    ///
    /// Near places by the two radii of the ellipsoid between them (exact to a millimetre in a kilometre), far ones by a
    /// great circle (to 0.5 %).
    public func distance(to other: GeoPosition) -> Double {
        let (east, north) = offset(to: other)
        let flat = (east * east + north * north).squareRoot()
        guard flat > 50_000 || latitude.magnitude > 89 else { return flat }
        return arc(to: other)
    }

    /// How far `other` is to the east and to the north, in metres; right for places that are near.
    public func offset(to other: GeoPosition) -> (east: Double, north: Double) {
        var turn = other.longitude - longitude
        if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
        let middle = 0.5 * (latitude + other.latitude) * .pi / 180
        let sine = sin(middle)
        let w = 1 - GeoPosition.eccentricitySquared * sine * sine
        let prime = GeoPosition.equatorialRadius / w.squareRoot()
        let meridian = prime * (1 - GeoPosition.eccentricitySquared) / w
        return (
            turn * .pi / 180 * prime * cos(middle), (other.latitude - latitude) * .pi / 180 * meridian
        )
    }

    /// The place so many metres to the east and to the north; nil beyond a pole.
    public func moved(east: Double, north: Double) -> GeoPosition? {
        let latitude = latitude + north / 111_132.95
        // The radii are those of the middle of the way: a first guess is enough for them.
        guard let guess = GeoPosition(latitude: latitude, longitude: longitude) else { return nil }
        let unit = offset(to: GeoPosition(latitude: guess.latitude, longitude: longitude) ?? self).north
        let scale = unit == 0 ? 1 : north / unit
        let reached = self.latitude + (guess.latitude - self.latitude) * scale
        let middle = 0.5 * (self.latitude + reached) * .pi / 180
        let sine = sin(middle)
        let prime = GeoPosition.equatorialRadius / (1 - GeoPosition.eccentricitySquared * sine * sine).squareRoot()
        let circle = prime * cos(middle)
        guard circle > 1 else { return nil }
        var longitude = longitude + east / circle * 180 / .pi
        if longitude > 180 { longitude -= 360 } else if longitude < -180 { longitude += 360 }
        return GeoPosition(latitude: reached, longitude: longitude)
    }

    private func arc(to other: GeoPosition) -> Double {
        let first = latitude * .pi / 180
        let second = other.latitude * .pi / 180
        let up = sin((second - first) / 2)
        let across = sin((other.longitude - longitude) * .pi / 360)
        let chord = up * up + cos(first) * cos(second) * across * across
        return 2 * GeoPosition.meanRadius * asin(min(1, chord.squareRoot()))
    }

    // WGS 84.
    private static let equatorialRadius = 6_378_137.0
    private static let eccentricitySquared = 0.006_694_379_990_14
    private static let meanRadius = 6_371_008.8
}
