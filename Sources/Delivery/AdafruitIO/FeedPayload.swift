public import DataPoints
public import Diagnostics
internal import FastJSON

/// What a message about one feed says: a value, and perhaps a place.
public struct FeedPayload: Sendable, Hashable {
    /// The value, always text.
    public var value: String
    /// The place, if one was given.
    public var location: Location?

    /// Makes a payload.
    public init(value: String, location: Location? = nil) {
        self.value = value
        self.location = location
    }

    /// Reads what was published on a feed's topic, or received from one; nil when it is not UTF-8.
    ///
    /// A JSON object with a `value` is opened; any other text, JSON or not, is the value, unchanged. On `/csv` the fields
    /// are `value,lat,lon,ele`; a text that is no such line is the value, unchanged.
    public init?(_ bytes: some Collection<UInt8>, form: PayloadForm) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self =
            switch form {
            case .plain, .json: FeedPayload(json: text) ?? FeedPayload(value: text)
            case .csv: FeedPayload(csv: text) ?? FeedPayload(value: text)
            }
    }

    /// The text to publish, or to receive on the topic of that form: the value alone when `form` is plain.
    public func text(form: PayloadForm) -> String {
        switch form {
        case .plain: value
        case .csv: CSVLine.text([value] + CSVLine.place(location))
        case .json: JSON.object(JSONObject([("value", .string(value))]).adding(location)).serialized()
        }
    }

    /// The object that subscribers of `/json` receive. Its exact members are not documented: besides the value and the
    /// place it names the feed and the time.
    public func notice(key: String, createdAt: Timestamp) -> String {
        let members: JSONObject = ["key": .string(key), "value": .string(value), "last_value": .string(value)]
        var object = members.adding(location)
        object["created_at"] = .string(createdAt.description)
        return JSON.object(object).serialized()
    }

    /// The number in a value, with quotes around it or without; nil when it is none.
    public static func number(in value: String) -> Double? {
        var text = Substring(value).trimmingSpaces
        if text.utf8.count >= 2, text.first == "\"", text.last == "\"" {
            text = text.dropFirst().dropLast().trimmingSpaces
        }
        guard let first = text.utf8.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first || "+-.".utf8.contains(first),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    private init?(json text: String) {
        guard text.utf8.contains(UInt8(ascii: "{")),
            let object = try? JSON.parse(text).object, let value = object["value"]
        else { return nil }
        self.init(value: FeedPayload.text(of: value), location: Location(members: object))
    }

    private init?(csv text: String) {
        guard let fields = CSVLine.fields(text), fields.count <= 4, let value = fields.first else { return nil }
        guard let location = CSVLine.location(fields.dropFirst()) else { return nil }
        self.init(value: value, location: location.place)
    }

    /// A JSON value as the text that is stored: strings bare, numbers as written, the rest as compact JSON.
    static func text(of value: JSON) -> String {
        if case .string(let text) = value { return text }
        return value.serialized()
    }
}

extension JSONObject {
    /// The members with `lat`, `lon` and `ele` of a place added.
    func adding(_ location: Location?) -> JSONObject {
        guard let location else { return self }
        var object = self
        object["lat"] = JSON(location.latitude)
        object["lon"] = JSON(location.longitude)
        if let elevation = location.elevation { object["ele"] = JSON(elevation) }
        return object
    }
}

extension Location {
    /// The place in the members `lat`, `lon`, `ele`, as numbers or as texts; nil unless both of the first two are there.
    init?(members: JSONObject) {
        func number(_ key: String) -> Double? {
            guard let member = members[key] else { return nil }
            return member.double ?? member.string.flatMap(FeedPayload.number)
        }
        guard let latitude = number("lat"), let longitude = number("lon") else { return nil }
        self.init(latitude: latitude, longitude: longitude, elevation: number("ele"))
    }
}

extension Substring {
    var trimmingSpaces: Substring {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return self[endIndex...] }
        return self[first...last]
    }
}
