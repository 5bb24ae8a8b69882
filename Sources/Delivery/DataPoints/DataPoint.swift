public import Diagnostics

/// A place: degrees north and east (WGS 84) and metres above the sea, if known.
public struct Location: Sendable, Hashable {
    /// Degrees north, -90 to 90.
    public var latitude: Double
    /// Degrees east, -180 to 180.
    public var longitude: Double
    /// Metres above mean sea level.
    public var elevation: Double?

    /// Makes a place.
    public init(latitude: Double, longitude: Double, elevation: Double? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.elevation = elevation
    }
}

extension Location: CustomStringConvertible {
    /// Says only that there is a place: exact positions do not belong into logs.
    public var description: String { "a location" }
}

/// One value for one feed, with the time it stands for and perhaps a place.
public struct DataPoint: Sendable, Hashable {
    /// The feed.
    public var feed: FeedKey
    /// The canonical text: what is sent and what is compared with an echo.
    public var value: String
    /// The time the value stands for.
    public var createdAt: Timestamp
    /// Where it was measured.
    public var location: Location?

    /// Makes a data point.
    public init(feed: FeedKey, value: String, createdAt: Timestamp, location: Location? = nil) {
        self.feed = feed
        self.value = value
        self.createdAt = createdAt
        self.location = location
    }
}
