public import DataPoints
internal import FastJSON

/// What a message about a group says: values of some of its feeds, and perhaps a place.
public struct GroupPayload: Sendable, Hashable {
    /// The value of one feed.
    public struct Entry: Sendable, Hashable {
        /// The feed's short key or name: `temperature`, not `weather.temperature`.
        public var key: String
        /// The value, always text.
        public var value: String

        /// Makes an entry.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Why a text is no group message.
    public enum Failure: Error, Sendable, Hashable {
        /// The bytes are not UTF-8.
        case notUTF8
        /// Not JSON with an object or an array of feeds.
        case notJSON
        /// A line that is not `key,value`; the number counts from 1.
        case badLine(Int)
    }

    /// The values, in the order of the message.
    public var entries: [Entry]
    /// The place, if one was given.
    public var location: Location?

    /// Makes a payload.
    public init(entries: [Entry], location: Location? = nil) {
        self.entries = entries
        self.location = location
    }

    /// Reads a message of a group's topic: CSV when `form` is CSV, else JSON.
    public init(_ bytes: some Collection<UInt8>, form: PayloadForm) throws(Failure) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        self = form == .csv ? try GroupPayload(csv: text) : try GroupPayload(json: text)
    }

    /// The message in that form: JSON with all values as strings, or CSV with a line feed after each line.
    public func text(form: PayloadForm) -> String {
        if form == .csv {
            var lines = entries.map { CSVLine.text([$0.key, $0.value]) }
            if let location { lines.append(CSVLine.text(["location"] + CSVLine.place(location))) }
            return lines.map { $0 + "\n" }.joined()
        }
        var object: JSONObject = ["feeds": .object(JSONObject(entries.map { ($0.key, .string($0.value)) }))]
        if location != nil { object["location"] = .object(JSONObject().adding(location)) }
        return JSON.object(object).serialized()
    }

    private init(json text: String) throws(Failure) {
        guard let object = try? JSON.parse(text).object else { throw .notJSON }
        switch object["feeds"] {
        case .object(let feeds)?:
            entries = feeds.map { Entry(key: $0.key, value: FeedPayload.text(of: $0.value)) }
        case .array(let feeds)?:
            var entries: [Entry] = []
            for feed in feeds {
                guard let key = feed["key"]?.string, let value = feed["value"] else { throw .notJSON }
                entries.append(Entry(key: key, value: FeedPayload.text(of: value)))
            }
            self.entries = entries
        default:
            throw .notJSON
        }
        location = Location(members: object["location"]?.object ?? object)
    }

    private init(csv text: String) throws(Failure) {
        entries = []
        for (place, line) in CSVLine.lines(text).enumerated() {
            guard let fields = CSVLine.fields(line), let key = fields.first, !key.isEmpty else {
                throw .badLine(place + 1)
            }
            if key == "location", fields.count >= 3 {
                guard let location = CSVLine.location(fields.dropFirst()) else { throw .badLine(place + 1) }
                self.location = location.place
            } else {
                guard fields.count == 2 else { throw .badLine(place + 1) }
                entries.append(Entry(key: key, value: fields[1]))
            }
        }
    }
}
