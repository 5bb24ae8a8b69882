internal import DataPoints
internal import Samples

/// How a bare value is written: what a chart, a gauge or an indicator of a dashboard can read.
enum PlainText {
    /// The text, or nil for what is missing. A flag is `1` or `0`, since a dashboard cannot draw words.
    static func text(of value: Value, precision: Int?) -> String? {
        switch value {
        case .missing: nil
        case .real(let number): CanonicalText.number(number, precision: precision)
        case .integer(let count): String(count)
        case .text(let text): text.isEmpty ? nil : text
        case .flag(let flag): flag ? "1" : "0"
        }
    }
}
