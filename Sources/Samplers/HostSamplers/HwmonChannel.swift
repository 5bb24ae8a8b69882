internal import Samples

/// What a channel of a hardware monitor measures: the word in its file's name, the unit, the scale.
enum HwmonKind: String, CaseIterable {
    case temp
    case `in`
    case fan
    case curr
    case power
    case energy
    case humidity
    case freq

    /// SI, as everywhere: the kernel gives thousandths and millionths.
    var unit: Unit {
        switch self {
        case .temp: .degreesCelsius
        case .in: .volts
        case .fan: .revolutionsPerMinute
        case .curr: .amperes
        case .power: .watts
        case .energy: .joules
        case .humidity: .percent
        case .freq: Unit(rawValue: "Hz")
        }
    }

    /// The value for the kernel's number.
    func value(_ number: Double) -> Value {
        switch self {
        case .temp: Temperature.value(thousandths: number)
        case .in, .curr, .humidity: Value(number / 1_000)
        case .power, .energy: Value(number / 1_000_000)
        case .fan, .freq: Value(number)
        }
    }
}

/// One channel of a chip: `temp1`, with its files within the chip's folder.
struct HwmonChannel: Comparable {
    let kind: HwmonKind
    let number: Int
    /// `temp1_input`, or `power1_average` where there is no input.
    let file: String

    /// Reads the name of a file; nil when it is none of a channel's value.
    init?(file: String) {
        guard let bar = file.firstIndex(of: "_") else { return nil }
        let head = file[..<bar]
        let word = head.prefix { !$0.isNumber }
        guard let kind = HwmonKind(rawValue: String(word)), let number = Int(head.dropFirst(word.count)) else {
            return nil
        }
        let tail = file[file.index(after: bar)...]
        guard tail == "input" || (tail == "average" && kind == .power) else { return nil }
        self.kind = kind
        self.number = number
        self.file = file
    }

    /// `temp1`.
    var key: String { "\(kind.rawValue)\(number)" }

    static func < (left: HwmonChannel, right: HwmonChannel) -> Bool {
        let order = HwmonKind.allCases
        let (a, b) = (order.firstIndex(of: left.kind) ?? 0, order.firstIndex(of: right.kind) ?? 0)
        return (a, left.number, right.file) < (b, right.number, left.file)
    }

    /// The field's name: the chip's label, else the key. A label that begins with no letter (`+3.3V`) gets the kind before it.
    static func name(label: String?, key: String, kind: HwmonKind) -> String {
        guard let label else { return key }
        let mapped = String(label.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        let text = mapped.drop { $0 == "_" }
        guard let first = text.first else { return key }
        return first.isNumber ? "\(kind.rawValue)_\(text)" : String(text)
    }
}
