public import DataPoints
public import Diagnostics
internal import FastJSON

/// A data point as the service keeps it.
public struct StoredPoint: Sendable, Hashable {
    /// The service's id of it.
    public var id: String
    /// Its value; the service keeps everything as text.
    public var value: String
    /// The key of its feed, `group.feed` outside the default group.
    public var feedKey: String?
    /// The time it stands for.
    public var createdAt: Timestamp?
    /// When the service will forget it.
    public var expiration: Timestamp?
    /// Where it was measured.
    public var location: Location?

    init?(_ json: JSON) {
        guard let id = json.text("id"), let value = json.text("value") else { return nil }
        self.id = id
        self.value = value
        feedKey = json.text("feed_key")
        createdAt = json.time("created_at")
        expiration = json.time("expiration")
        let numbers = ["lat", "lon", "ele"].map { key in json[key]?.double ?? json[key]?.string.flatMap { Double($0) } }
        if let latitude = numbers[0], let longitude = numbers[1] {
            location = Location(latitude: latitude, longitude: longitude, elevation: numbers[2])
        }
    }
}

extension Timestamp {
    /// As short as its exactness to the microsecond allows.
    var forService: String {
        let digits = nanoseconds % 1_000_000_000 == 0 ? 0 : nanoseconds % 1_000_000 == 0 ? 3 : 6
        return iso8601(fractionDigits: digits)
    }
}

extension JSONObject {
    /// The members of a data point that is to be created.
    static func point(value: String, createdAt: Timestamp?, location: Location?) -> JSONObject {
        var members: JSONObject = ["value": .string(value)]
        members.set("created_at", createdAt?.forService)
        if let location { members.add(location) }
        return members
    }

    /// Adds `lat`, `lon` and, where it is known, `ele`.
    mutating func add(_ location: Location) {
        self["lat"] = JSON(location.latitude)
        self["lon"] = JSON(location.longitude)
        if let elevation = location.elevation { self["ele"] = JSON(elevation) }
    }
}
