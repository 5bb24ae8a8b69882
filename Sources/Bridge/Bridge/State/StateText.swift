internal import FoundationEssentials

/// Values of the state file as text.
enum StateText {
    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// Reads one back; nil when it is of another version or broken, which counts as a first run.
    static func value<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
