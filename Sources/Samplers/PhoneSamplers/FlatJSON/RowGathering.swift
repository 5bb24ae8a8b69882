internal import Diagnostics
internal import Samples

extension SampleGathering {
    /// Adds a row of a JSON document: one sample for each of its streams. A time of its own lets a double be known.
    mutating func add(
        _ row: JSONRow,
        at message: PushMessage,
        known: [Name: Samples.Stream],
        others: inout StreamAdmission
    ) throws(StreamAdmission.Refusal) {
        let time = row.time ?? message.wall
        var names: [Name] = []
        for value in row.values where !names.contains(value.stream) { names.append(value.stream) }
        for name in names {
            let parts = row.values.filter { $0.stream == name }
            let stream: Samples.Stream
            if let found = known[name] {
                stream = found
            } else {
                var fields = parts.map(\.field)
                // A name with a meaning has all of its fields, whoever sends it.
                if let whole = KnownStreams.fields(of: name) {
                    fields = whole + fields.filter { field in !whole.contains { $0.name == field.name } }
                }
                stream = try others.stream(name, fields: fields, at: message.arrival)
            }
            let values = stream.fields.map { field in
                (parts.first { $0.field.name == field.name }?.value ?? .missing).fitting(field.kind)
            }
            if row.time != nil, !isNew(RecentKeys.key(name, time, values), of: name) { continue }
            add(stream, time, values)
        }
    }
}
