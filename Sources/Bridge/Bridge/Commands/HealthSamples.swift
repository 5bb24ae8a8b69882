internal import Diagnostics
internal import FastJSON
internal import HealthImport
internal import Samples

/// The streams into which a health export goes, and the batches in which it goes there.
enum HealthSamples {
    /// So many samples a batch.
    static let batchSize = 4000

    /// The stream of a quantity: its value, how long it took, and who measured it.
    static func stream(of quantity: HealthQuantity) -> Stream {
        let source = Field(Name(mapping: "source"), kind: .text)
        if quantity == .heartRate {
            let bpm = Field(Name(mapping: "bpm"), unit: .beatsPerMinute)
            return Stream(Name(mapping: "health.heart_rate"), fields: [bpm, source])
        }
        let unit: Unit = quantity == .distance ? .metres : .none
        return Stream(
            Name(mapping: "health.\(quantity.word)"),
            fields: [
                Field(Name(mapping: "value"), unit: unit), Field(Name(mapping: "seconds"), unit: .seconds), source,
            ]
        )
    }

    /// All streams, by the order of the quantities.
    static let streams = HealthQuantity.allCases.map(stream)

    /// A sample: its time is the end of the interval, when the value stood.
    static func values(_ record: HealthRecord, _ source: HealthSource) -> (time: Timestamp, values: [Value]) {
        let time = Timestamp(nanoseconds: record.end * 1_000_000_000)
        if record.quantity == .heartRate { return (time, [Value(record.value), .text(source.name)]) }
        return (time, [Value(record.value), .real(Double(record.end - record.start)), .text(source.name)])
    }

    /// A batch as the running bridge takes it: `{"stream":NAME,"rows":[[TIME_NS,VALUE,...],...]}`.
    static func json(_ batch: SampleBatch) -> JSON {
        let rows = (0..<batch.count).map { row in
            JSON.array([.number(JSONNumber(batch.times[row].nanoseconds))] + batch.sample(row).map(json))
        }
        return ["stream": .string(batch.stream.name.text), "rows": .array(rows)]
    }

    private static func json(_ value: Value) -> JSON {
        switch value {
        case .real(let number): JSON(number)
        case .integer(let number): .number(JSONNumber(number))
        case .text(let text): .string(text)
        case .flag(let flag): .bool(flag)
        case .missing: nil
        }
    }

    /// The batch that `json` made; nil when it has another form.
    static func batch(_ json: JSON, arrival: BootInstant) -> SampleBatch? {
        guard let name = json["stream"]?.string, let stream = streams.first(where: { $0.name.text == name }),
            let rows = json["rows"]?.array
        else { return nil }
        var batch = SampleBatch(stream, arrival: arrival)
        batch.reserveCapacity(rows.count)
        for row in rows {
            guard let cells = row.array, cells.count == stream.fields.count + 1, let time = cells[0].int64 else {
                return nil
            }
            let values = cells.dropFirst().map { cell -> Value in
                if let text = cell.string { return .text(text) }
                return cell.double.map { Value($0) } ?? .missing
            }
            batch.append(time: Timestamp(nanoseconds: time), values)
        }
        return batch
    }
}
