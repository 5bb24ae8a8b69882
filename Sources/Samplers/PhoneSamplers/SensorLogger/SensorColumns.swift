internal import Diagnostics
internal import FastJSON
internal import Samples

/// The samples of one sensor within one message, gathered row by row.
struct SensorColumns: Sendable {
    let sensor: SensorLoggerSensor
    private(set) var times: [Timestamp] = []
    /// For each shape its values, row by row.
    private(set) var values: [[Value]]
    /// Rows that had no value at all.
    private(set) var empty = 0
    /// For each member of a row the source that it was last: apps write their members in one order.
    private var guesses: [Int] = []
    private var row: [Value]

    init(_ sensor: SensorLoggerSensor) {
        self.sensor = sensor
        values = sensor.shapes.map { _ in [] }
        row = Array(repeating: .missing, count: sensor.width)
    }

    /// Adds a row from the members of `object`.
    mutating func append(_ time: Timestamp, _ object: JSONTape.Node, of tape: borrowing JSONTape) {
        for index in row.indices { row[index] = .missing }
        var member = 0
        tape.forEachMember(of: object) { key, value in
            defer { member += 1 }
            guard let index = source(of: key, at: member, tape) else { return }
            let (source, field) = sensor.sources[index]
            row[field] = Self.value(value, source, tape)
        }
        guard row.contains(where: { $0 != .missing }) else {
            empty += 1
            return
        }
        times.append(time)
        var start = 0
        for shape in values.indices {
            let end = start + sensor.shapes[shape].stream.fields.count
            values[shape].append(contentsOf: row[start..<end])
            start = end
        }
    }

    private mutating func source(of key: JSONTape.Text, at member: Int, _ tape: borrowing JSONTape) -> Int? {
        if member < guesses.count {
            let guess = guesses[member]
            if guess >= 0, tape.equals(key, sensor.sources[guess].source.key) { return guess }
        }
        let found = sensor.sources.firstIndex { tape.equals(key, $0.source.key) }
        // A message with thousands of different members costs no memory here.
        while guesses.count <= min(member, 63) { guesses.append(-1) }
        if member < guesses.count { guesses[member] = found ?? -1 }
        return found
    }

    private static func value(_ node: JSONTape.Node, _ source: SensorSource, _ tape: borrowing JSONTape) -> Value {
        switch source.rule {
        case .number:
            guard let number = number(node, tape) else { return .missing }
            return Value(number * source.factor + source.offset)
        case .positive:
            guard let number = number(node, tape), number >= 0 else { return .missing }
            return Value(number * source.factor)
        case .count:
            guard let number = number(node, tape), let count = Int64(exactly: number.rounded()) else { return .missing }
            return .integer(count)
        case .word:
            return .word(tape.string(node))
        case .confidence:
            switch tape.string(node) {
            case "low": return .real(1.0 / 3)
            case "medium": return .real(2.0 / 3)
            case "high": return .real(1)
            default: return .number(number(node, tape))
            }
        }
    }

    /// A number, or a text that is one: the app's own JSON export writes all values as texts.
    private static func number(_ node: JSONTape.Node, _ tape: borrowing JSONTape) -> Double? {
        if let number = tape.double(node) { return number }
        return tape.text(node).flatMap { Double(tape.string($0)) }
    }
}
