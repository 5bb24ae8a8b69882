internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Samples

/// `feedbridge sensors`: every stream with what it reads now.
public struct SensorsCommand: Command {
    private let json: Bool

    /// Makes the command.
    public init(json: Bool) {
        self.json = json
    }

    /// Reads every stream of the configuration, or of this machine when there is no configuration.
    public func run(_ context: CommandContext) async throws {
        let time = SystemTime()
        var samplers = SamplerFactory.found(time: time)
        if let path = try? ConfigurationFile.find(context.configurationFile, environment: context.environment) {
            samplers = try SamplerFactory.make(try ConfigurationFile.load(path), time: time).map(\.sampler)
        }
        var rows: [(kind: String, reading: SensorReading)] = []
        for sampler in samplers {
            for reading in await sampler.readings() { rows.append((sampler.kind, reading)) }
        }
        context.output(json ? report(rows) : text(rows))
    }

    private func report(_ rows: [(kind: String, reading: SensorReading)]) -> String {
        let array = JSON.array(
            rows.map { kind, reading in
                let fields = zip(reading.stream.fields, reading.values).map { field, value -> JSON in
                    ["name": .string(field.name.text), "unit": .string(field.unit.rawValue), "value": value.json]
                }
                let object: JSON = [
                    "stream": .string(reading.stream.name.text), "kind": .string(kind), "fields": .array(fields),
                    "state": .string(reading.condition.word), "message": JSON(reading.condition.detail),
                ]
                return object
            }
        )
        return array.serialized() + "\n"
    }

    private func text(_ rows: [(kind: String, reading: SensorReading)]) -> String {
        guard !rows.isEmpty else { return "There is no sampler in the configuration.\n" }
        return rows.map { _, reading in
            let values = zip(reading.stream.fields, reading.values).map { field, value in
                let unit = field.unit.rawValue.isEmpty ? "" : " \(field.unit.rawValue)"
                return "\(field.name) \(value.text)\(value == .missing ? "" : unit)"
            }
            let detail = reading.condition.detail.map { " (\($0))" } ?? ""
            return
                "\(reading.stream.name.text.padded(to: 28)) \(reading.condition.word)\(detail)  \(values.joined(separator: ", "))\n"
        }.joined()
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

    fileprivate var text: String {
        switch self {
        case .missing: "-"
        case .real(let number): CanonicalText.number(number, precision: 3) ?? "-"
        case .integer(let count): "\(count)"
        case .text(let text): text
        case .flag(let flag): flag ? "yes" : "no"
        }
    }
}
