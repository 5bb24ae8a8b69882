/// A number of JSON, kept as the text it was written with, so that `1.10` stays `1.10` and 19 digits stay exact.
public struct JSONNumber: Sendable, Hashable {
    /// The number as written.
    public let text: String

    /// A whole number.
    public init(_ number: some BinaryInteger) {
        text = String(number)
    }

    /// A number in its shortest form that reads back the same; nil for NaN and infinities, which JSON does not have.
    public init?(_ number: Double) {
        guard number.isFinite else { return nil }
        if number == number.rounded(.towardZero), number.magnitude < 1e15 {
            text = String(Int64(number))
        } else {
            text = number.description
        }
    }

    init(written text: String) {
        self.text = text
    }

    /// The nearest `Double`.
    public var double: Double { Double(text) ?? .nan }

    /// The number, when it is whole and fits; `1.0` and `1e3` are whole.
    public var int64: Int64? {
        if let exact = Int64(text) { return exact }
        return Int64(exactly: double)
    }
}
