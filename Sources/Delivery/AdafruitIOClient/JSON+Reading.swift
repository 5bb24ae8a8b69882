internal import Diagnostics
internal import FastJSON

// Members as the service writes them: absent, null, and numbers or truth values that come as text.
extension JSON {
    /// A text; numbers and truth values become theirs, null and absent nil.
    func text(_ key: String) -> String? {
        switch self[key] {
        case .string(let text)?: text
        case .number(let number)?: number.text
        case .bool(let flag)?: flag ? "true" : "false"
        default: nil
        }
    }

    /// A whole number, also one that comes as text.
    func whole(_ key: String) -> Int? {
        self[key]?.int ?? self[key]?.string.flatMap { Int($0) }
    }

    /// A truth value, also one that comes as text: the service has had `true`, `"ON"` and `"yes"`.
    func flag(_ key: String) -> Bool? {
        if let flag = self[key]?.bool { return flag }
        switch self[key]?.string?.lowercased() {
        case "true", "on", "yes", "1": return true
        case "false", "off", "no", "0": return false
        default: return nil
        }
    }

    /// A moment in ISO 8601.
    func time(_ key: String) -> Timestamp? {
        self[key]?.string.flatMap { Timestamp(iso8601: $0) }
    }

    /// The elements of an array, each read; nil when this is no array or one cannot be read.
    func list<Element>(_ read: (JSON) -> Element?) -> [Element]? {
        guard let array else { return nil }
        let elements = array.compactMap(read)
        return elements.count == array.count ? elements : nil
    }
}

extension JSONObject {
    /// Sets a member unless the value is nil.
    mutating func set(_ key: String, _ value: String?) {
        if let value { self[key] = .string(value) }
    }

    /// Sets a member unless the value is nil.
    mutating func set(_ key: String, _ value: Bool?) {
        if let value { self[key] = .bool(value) }
    }

    /// Sets a member unless the value is nil.
    mutating func set(_ key: String, _ value: Int?) {
        if let value { self[key] = JSON(value) }
    }
}
