internal import Samples

/// Makes streams with known fields for one device: a second device of a kind has a suffix.
struct StreamNaming: Sendable, Hashable {
    let suffix: Name?

    /// `accelerometer`, or `accelerometer.lid` with the suffix `lid`.
    func name(_ text: String) -> Name {
        Name(mapping: suffix.map { "\(text).\($0)" } ?? text)
    }

    /// The known stream called `text` for this device.
    func known(_ text: String) -> Samples.Stream {
        guard let fields = KnownStreams.fields(of: Name(mapping: text)) else {
            preconditionFailure("\(text) is in the table of known streams")
        }
        return Samples.Stream(name(text), fields: fields)
    }
}

extension Value {
    /// A measured number that apps leave out, or write as a negative one, when it is unknown.
    static func unlessNegative(_ number: Double?) -> Value {
        guard let number, number >= 0 else { return .missing }
        return Value(number)
    }

    /// A number, or missing.
    static func number(_ number: Double?) -> Value {
        number.map { Value($0) } ?? .missing
    }

    /// A count, or missing.
    static func count(_ number: Int64?) -> Value {
        number.map { .integer($0) } ?? .missing
    }

    /// A word, cut to what a word may be; missing when there is none.
    static func word(_ text: String?) -> Value {
        guard let text, !text.isEmpty else { return .missing }
        return .text(String(text.prefix(256)))
    }
}
