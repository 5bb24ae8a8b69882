public import Samples

/// A circle on the ground that is watched.
public struct GeofenceCircle: Sendable, Hashable {
    /// What it is called; each name once.
    public let name: String
    /// Its middle.
    public let middle: GeoPosition
    /// Its radius in metres.
    public let radius: Double

    /// Makes a circle; nil when the radius is not from 1 m to 1,000 km.
    public init?(name: String, middle: GeoPosition, radius: Double) {
        guard (1...1_000_000).contains(radius) else { return nil }
        self.name = name
        self.middle = middle
        self.radius = radius
    }

    /// Reads `NAME,LAT,LON,RADIUS`; the name may hold commas.
    init(_ text: String) throws(DerivationError) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count >= 4, let radius = Double(parts[parts.count - 1]),
            let longitude = Double(parts[parts.count - 2]), let latitude = Double(parts[parts.count - 3]),
            let middle = GeoPosition(latitude: latitude, longitude: longitude),
            let circle = GeofenceCircle(
                name: parts.dropLast(3).joined(separator: ","),
                middle: middle,
                radius: radius
            ), !circle.name.isEmpty
        else {
            throw DerivationError(
                "fence is \"\(text)\", but must be NAME,LAT,LON,RADIUS: degrees, and 1 to 1000000 metres."
            )
        }
        self = circle
    }

    /// Leaving means to be farther than this from the middle, beyond what the fix may be off.
    var outerRadius: Double { radius + max(0.1 * radius, 20) }
}
