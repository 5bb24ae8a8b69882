internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import HTTPServer

/// A request of the REST interface on its way through a handler.
struct RESTCall: Sendable {
    let request: HTTPRequest
    /// The account that the address names.
    let account: String
    /// What stood in the places of the route's pattern.
    let parameters: [String: String]
    /// The time that the request came.
    let now: Timestamp

    /// What stood in the place `name` of the pattern.
    subscript(name: String) -> String { parameters[name] ?? "" }

    /// The query's value of `name`.
    func query(_ name: String) -> String? {
        request.first(named: name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The body, whichever of its forms it came in.
    func body() throws(RESTError) -> JSON {
        guard let body = RequestBody.read(request) else {
            throw RESTError(400, "request failed - the body is neither JSON nor a form")
        }
        return body
    }

    /// The members of the body's record: wrapped in a member of one of these names, or bare.
    func record(_ wrappers: String...) throws(RESTError) -> JSONObject {
        guard let object = try body().object else {
            throw RESTError(400, "request failed - the body is not an object")
        }
        for wrapper in wrappers {
            if let inner = object[wrapper]?.object { return inner }
        }
        return object
    }

    /// A time of the query.
    func time(_ name: String) throws(RESTError) -> Timestamp? {
        guard let text = query(name) else { return nil }
        // A plus sign that the client did not escape has become a space.
        guard let time = Timestamp(client: text) ?? Timestamp(client: text.replacing(" ", with: "+")) else {
            throw RESTError(400, "request failed - \(name) is not a time in ISO 8601")
        }
        return time
    }

    /// The query's `limit`, clamped to what one page may hold.
    func limit(_ most: Int = 1000) -> Int {
        query("limit").flatMap { Int($0) }.map { min(max($0, 1), most) } ?? most
    }
}

extension Timestamp {
    /// Reads ISO 8601; a time without a zone is UTC, and a date alone is its first moment.
    init?(client text: String) {
        let found =
            Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "Z") ?? Timestamp(iso8601: text + "T00:00:00Z")
            ?? Timestamp(iso8601: text.replacing(" ", with: "T") + "Z")
        guard let found else { return nil }
        self = found
    }

    /// As the service writes times: whole seconds, UTC.
    var inSecondsText: String { iso8601(fractionDigits: 0) }
}

/// A value with its place and time, as a request gives it.
struct GivenDatum: Sendable {
    let value: String
    let location: Location?
    let createdAt: Timestamp?

    /// Reads the members of a record; `context` stands at the end of complaints.
    init(_ members: JSONObject, context: String) throws(RESTError) {
        guard let value = members.text("value"), !value.isEmpty else {
            throw RESTError(422, "request failed - Record invalid. Failed to save data to \(context). value is missing")
        }
        self.value = value
        location = Location(given: members)
        createdAt = try GivenDatum.time(members, context: context)
    }

    static func time(_ members: JSONObject, context: String) throws(RESTError) -> Timestamp? {
        if let text = members.text("created_at") {
            guard let time = Timestamp(client: text) else {
                throw RESTError(
                    422,
                    "request failed - Record invalid. Failed to save data to \(context). data created_at is not a time"
                )
            }
            return time
        }
        return members.number("epoch").map(Timestamp.init(seconds:))
    }
}

extension Location {
    /// The place in the members `lat`, `lon`, `ele`; nil unless the first two are there and on the globe.
    init?(given members: JSONObject) {
        guard let latitude = members.number("lat"), let longitude = members.number("lon"),
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        self.init(latitude: latitude, longitude: longitude, elevation: members.number("ele"))
    }
}
