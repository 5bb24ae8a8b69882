internal import Diagnostics
internal import FastJSON
internal import Samples

/// The time and the values of one JSON object, by stream.
struct JSONRow {
    var time: Timestamp?
    /// Fields and values by stream, in their order.
    var values: [(stream: Name, field: Field, value: Value)] = []

    /// The members that are a time unless the mapping says otherwise, the surest first.
    private static let timeKeys = ["time_ns", "time_ms", "time_s", "timestamp", "time", "ts", "tst"]

    /// Reads an object as `mapping` says; `stream` is the one of what names none.
    init(_ object: JSON, _ mapping: JSONMapping, stream: Name, naming: StreamNaming, units: [String: Unit] = [:]) {
        var timeKey = mapping.time
        if let key = mapping.time {
            time = object.value(at: key).flatMap(JSONRow.time)
        } else if let key = JSONRow.timeKeys.first(where: { object[$0].flatMap(JSONRow.time) != nil }) {
            time = object[key].flatMap(JSONRow.time)
            timeKey = key
        }
        guard mapping.entries.isEmpty else {
            for entry in mapping.entries {
                guard let (kind, value) = object.value(at: entry.pointer).flatMap(JSONRow.value) else { continue }
                let target = entry.stream.map { naming.name($0.text) } ?? stream
                var field = mapping.field(entry, of: target)
                if KnownStreams.fields(of: target)?.contains(where: { $0.name == field.name }) != true {
                    field = Field(field.name, unit: field.unit, kind: kind)
                }
                values.append((target, field, value))
            }
            return
        }
        flatten(object, "", without: timeKey, stream, units, depth: 0)
    }

    private mutating func flatten(
        _ json: JSON,
        _ prefix: String,
        without timeKey: String?,
        _ stream: Name,
        _ units: [String: Unit],
        depth: Int
    ) {
        guard let members = json.object, depth < 4 else { return }
        for (key, value) in members {
            if depth == 0, key == timeKey || "/\(key)" == timeKey { continue }
            guard values.count < StreamAdmission.mostFields else { return }
            let text = SensorLoggerDecoder.underscored(key)
            let path = prefix.isEmpty ? text : "\(prefix)_\(text)"
            if let (kind, value) = JSONRow.value(value) {
                let name = Name(mapping: path)
                if values.contains(where: { $0.field.name == name }) { continue }
                let known = KnownStreams.fields(of: stream)?.first { $0.name == name }
                let unit = units[name.text] ?? .none
                values.append((stream, known ?? Field(name, unit: unit, kind: kind), value))
            } else {
                flatten(value, path, without: nil, stream, units, depth: depth + 1)
            }
        }
    }

    /// Makes temperatures of °F ones of °C.
    mutating func convertFahrenheit() {
        for index in values.indices where values[index].field.unit == .degreesCelsius {
            guard let number = values[index].value.number else { continue }
            values[index].value = Value((number - 32) / 1.8)
        }
    }

    /// A value of a document; nil for what is inside something, and for null.
    static func value(_ json: JSON) -> (FieldKind, Value)? {
        switch json {
        case .number:
            return json.double.map { (.real, Value($0)) }
        case .bool(let flag):
            return (.flag, .flag(flag))
        case .string(let text):
            switch text.lowercased() {
            case "on", "true": return (.flag, .flag(true))
            case "off", "false": return (.flag, .flag(false))
            default: return (.text, .word(text))
            }
        case .null, .array, .object:
            return nil
        }
    }

    /// A moment: ISO 8601, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970 by its size.
    static func time(_ json: JSON) -> Timestamp? {
        if let text = json.string {
            return Timestamp(iso8601: text) ?? Int64(text).flatMap(time) ?? Double(text).flatMap(time)
        }
        if let whole = json.int64 { return time(whole) }
        return json.double.flatMap(time)
    }

    private static func time(_ whole: Int64) -> Timestamp? {
        switch whole {
        case 100_000_000..<100_000_000_000: scaled(whole, 1_000_000_000)
        case 100_000_000_000..<100_000_000_000_000: scaled(whole, 1_000_000)
        case 100_000_000_000_000..<100_000_000_000_000_000: scaled(whole, 1000)
        case 100_000_000_000_000_000...: Timestamp(nanoseconds: whole)
        default: nil
        }
    }

    private static func scaled(_ whole: Int64, _ factor: Int64) -> Timestamp? {
        let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
        return overflow ? nil : Timestamp(nanoseconds: product)
    }

    private static func time(_ number: Double) -> Timestamp? {
        switch number {
        case 1e8..<1e11: Timestamp(seconds: number)
        case 1e11..<1e14: Timestamp(seconds: number / 1e3)
        case 1e14..<1e17: Timestamp(seconds: number / 1e6)
        case 1e17..<9e18: Timestamp(seconds: number / 1e9)
        default: nil
        }
    }
}
