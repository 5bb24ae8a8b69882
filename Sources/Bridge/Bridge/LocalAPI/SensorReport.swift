internal import DataPoints
internal import FastJSON
internal import Samples

/// What `feedbridge sensors` shows: a row for each stream, as the contract has it.
struct SensorReport: Sendable {
    /// The rows, as JSON.
    var rows: [JSON]

    init(_ readings: [(kind: String, reading: SensorReading)]) {
        rows = readings.map { kind, reading in
            let fields = zip(reading.stream.fields, reading.values).map { field, value -> JSON in
                ["name": .string(field.name.text), "unit": .string(field.unit.rawValue), "value": value.json]
            }
            return [
                "stream": .string(reading.stream.name.text), "kind": .string(kind), "fields": .array(fields),
                "state": .string(reading.condition.word), "message": JSON(reading.condition.detail),
            ]
        }
    }

    var json: JSON { .array(rows) }

    /// A line for each stream, for people.
    var text: String {
        guard !rows.isEmpty else { return "There is no sampler in the configuration.\n" }
        return rows.map { row in
            let values = (row["fields"]?.array ?? []).map { field in
                let unit = field["unit"]?.string ?? ""
                let value = field["value"] ?? .null
                let shown = value.isNull || unit.isEmpty ? "" : " \(unit)"
                return "\(field["name"]?.string ?? "") \(Self.text(of: value))\(shown)"
            }
            let detail = row["message"]?.string.map { " (\($0))" } ?? ""
            let stream = row["stream"]?.string ?? ""
            return
                "\(stream.padded(to: 28)) \(row["state"]?.string ?? "")\(detail)  \(values.joined(separator: ", "))\n"
        }.joined()
    }

    private static func text(of value: JSON) -> String {
        switch value {
        case .null, .array, .object: "-"
        case .bool(let flag): flag ? "yes" : "no"
        case .string(let text): text
        case .number(let number):
            Int64(number.text).map { "\($0)" } ?? CanonicalText.number(number.double, precision: 3) ?? "-"
        }
    }
}

extension Value {
    fileprivate var json: JSON {
        switch self {
        case .missing: .null
        case .real(let number): JSON(number)
        case .integer(let count): .number(JSONNumber(count))
        case .text(let text): .string(text)
        case .flag(let flag): .bool(flag)
        }
    }
}
