internal import FastJSON
internal import HTTPServer

/// The body of a request as one JSON value, whichever of three forms it came in.
enum RequestBody {
    /// Reads JSON, a form, or a multipart form; nil when it is none of them. An empty body is an empty object.
    static func read(_ request: HTTPRequest) -> JSON? {
        guard !request.body.isEmpty else { return .object([:]) }
        let type = request.headers["Content-Type"] ?? ""
        if type.lowercased().hasPrefix("multipart/form-data") {
            return boundary(of: type).flatMap { parts(of: request.body, boundary: $0) }.map(object)
        }
        // Some clients send JSON with the type that curl gives by itself.
        if let json = try? JSON.parse(request.body) { return json }
        return request.form.map(object)
    }

    /// Fields as an object; `feed[name]` becomes the member `name` of the member `feed`.
    static func object(_ fields: [(String, String)]) -> JSON {
        var object = JSONObject()
        for (name, value) in fields {
            if let open = name.firstIndex(of: "["), name.last == "]", open != name.startIndex {
                let outer = String(name[..<open])
                let inner = String(name[name.index(after: open)...].dropLast())
                var members = object[outer]?.object ?? [:]
                members[inner] = .string(value)
                object[outer] = .object(members)
            } else {
                object[name] = .string(value)
            }
        }
        return .object(object)
    }

    private static func boundary(of type: String) -> String? {
        guard let range = type.firstRange(of: "boundary=") else { return nil }
        let rest = type[range.upperBound...].prefix { $0 != ";" }
        let text = rest.filter { $0 != "\"" }
        return text.isEmpty ? nil : String(text)
    }

    /// The text fields of a multipart form (RFC 7578).
    private static func parts(of body: [UInt8], boundary: String) -> [(String, String)]? {
        guard let text = String(validating: body, as: UTF8.self) else { return nil }
        let normal = text.replacing("\r\n", with: "\n")
        var fields: [(String, String)] = []
        for part in normal.split(separator: "--\(boundary)") {
            guard let end = part.firstRange(of: "\n\n"), let name = fieldName(in: part[..<end.lowerBound]) else {
                continue
            }
            var value = part[end.upperBound...]
            if value.last == "\n" { value = value.dropLast() }
            fields.append((name, String(value)))
        }
        return fields.isEmpty ? nil : fields
    }

    private static func fieldName(in head: Substring) -> String? {
        guard let start = head.firstRange(of: "name=\"") else { return nil }
        return String(head[start.upperBound...].prefix { $0 != "\"" })
    }
}

extension JSONObject {
    /// The member, unless it is missing or null: clients send every member that they know, most of them null.
    func given(_ key: String) -> JSON? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }

    /// The member as text: a string as it is, a number or a truth value as it was written.
    func text(_ key: String) -> String? {
        guard let value = given(key) else { return nil }
        return value.string ?? value.serialized()
    }

    /// The member as a number, also when it came as text.
    func number(_ key: String) -> Double? {
        guard let value = given(key) else { return nil }
        return value.double ?? value.string.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The member as a truth value: `true`, `"ON"`, `"yes"`, `1`.
    func flag(_ key: String) -> Bool? {
        guard let text = text(key)?.lowercased() else { return nil }
        switch text {
        case "true", "on", "yes", "1": return true
        case "false", "off", "no", "0": return false
        default: return nil
        }
    }
}
