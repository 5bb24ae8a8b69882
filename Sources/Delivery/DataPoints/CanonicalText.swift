/// How numbers become the text of a data point.
public enum CanonicalText {
    /// The shortest decimal text that reads back as `number`, never in exponent form below 1e16; nil for NaN and infinity.
    ///
    /// With `precision`, the number is first rounded to that many digits after the point (0 to 17) and trailing zeros
    /// are left out. Minus zero is `0`.
    public static func number(_ number: Double, precision: Int? = nil) -> String? {
        guard number.isFinite else { return nil }
        var value = number
        if let precision, precision >= 0, precision <= 17 {
            let scale = power(of: precision)
            let scaled = number * scale
            if scaled.magnitude < 9e15 { value = scaled.rounded(.toNearestOrEven) / scale }
        }
        if value == 0 { return "0" }
        if value.magnitude < 9.007199254740992e15, value == value.rounded(.towardZero) {
            return String(Int64(value))
        }
        return plain(value.description)
    }

    private static func power(of digits: Int) -> Double {
        (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    }

    /// Turns `1.5e-07` into `0.00000015`; texts without an exponent stay as they are.
    private static func plain(_ text: String) -> String {
        guard let e = text.firstIndex(where: { $0 == "e" || $0 == "E" }),
            let exponent = Int(text[text.index(after: e)...]),
            exponent < 0, exponent > -40
        else { return text }
        let mantissa = text[..<e]
        let sign = mantissa.hasPrefix("-") ? "-" : ""
        let digits = mantissa.filter { $0.isNumber }
        let trimmed = digits.hasSuffix("0") && digits.count > 1 ? String(digits.dropLast()) : String(digits)
        return sign + "0." + String(repeating: "0", count: -exponent - 1) + trimmed
    }
}
