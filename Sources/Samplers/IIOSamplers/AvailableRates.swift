/// What a driver says of the rates that it can: a list `12.5 26 104`, or a range `[min step max]`.
enum AvailableRates: Equatable {
    case list([(text: String, hertz: Double)])
    case range(least: Double, step: Double, most: Double)

    /// Reads `sampling_frequency_available`; nil when it says nothing.
    init?(_ text: String) {
        let isRange = text.hasPrefix("[")
        let words = text.split { $0 == " " || $0 == "[" || $0 == "]" || $0 == "," }.map(String.init)
        let numbers = words.compactMap { word in Double(word).map { (text: word, hertz: $0) } }
            .filter { $0.hertz.isFinite && $0.hertz >= 0 }
        if isRange {
            guard numbers.count == 3, numbers[0].hertz <= numbers[2].hertz else { return nil }
            self = .range(least: numbers[0].hertz, step: numbers[1].hertz, most: numbers[2].hertz)
        } else {
            let rates = numbers.filter { $0.hertz > 0 }
            guard !rates.isEmpty else { return nil }
            self = .list(rates.sorted { $0.hertz < $1.hertz })
        }
    }

    /// What to write for `hertz`: the slowest rate that is not below it, else the fastest.
    func text(for hertz: Double) -> String {
        switch self {
        case .list(let rates):
            return (rates.first { $0.hertz >= hertz * 0.999 } ?? rates[rates.count - 1]).text
        case .range(let least, let step, let most):
            guard hertz > least else { return decimal(least) }
            guard hertz < most else { return decimal(most) }
            guard step > 0 else { return decimal(hertz) }
            return decimal(min(most, least + ((hertz - least) / step - 1e-9).rounded(.up) * step))
        }
    }

    static func == (left: AvailableRates, right: AvailableRates) -> Bool {
        switch (left, right) {
        case (.list(let a), .list(let b)): a.map(\.text) == b.map(\.text)
        case (.range(let a, let b, let c), .range(let d, let e, let f)): (a, b, c) == (d, e, f)
        default: false
        }
    }
}

/// A number as the kernel reads it: no exponent, six digits after the point at most.
func decimal(_ number: Double) -> String {
    guard number.isFinite, number.magnitude < 1e12 else { return "0" }
    let millionths = Int64((number * 1e6).rounded())
    let (whole, rest) = millionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    let sign = millionths < 0 ? "-" : ""
    guard rest > 0 else { return "\(sign)\(whole)" }
    let digits = String(rest)
    var fraction = String(repeating: "0", count: 6 - digits.count) + digits
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return "\(sign)\(whole).\(fraction)"
}
