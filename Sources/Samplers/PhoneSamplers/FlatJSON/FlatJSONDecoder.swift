// Anything that can post JSON: an object, or a list of objects, whose members are values. A key map says which become what;
// without one all of them become fields of the stream that the address names.
//
// Time: the member that the mapping names, else `time_ns`, `time_ms`, `time_s`, `timestamp`, `time`, `ts`, `tst`, as ISO
// 8601 or a number whose size tells its unit; else the time of arrival. What goes wrong: names from anywhere, numbers
// written as texts, members that come and go, the same thing twice.
internal import Diagnostics
internal import FastJSON
internal import Samples

struct FlatJSONDecoder: PushDecoder {
    private let mapping: JSONMapping
    private let naming: StreamNaming
    private let known: [Name: Samples.Stream]
    private var others: StreamAdmission

    init(_ mapping: JSONMapping, naming: StreamNaming = StreamNaming(suffix: nil), reserved: Set<Name> = []) {
        self.mapping = mapping
        self.naming = naming
        known = Dictionary(mapping.streams(naming).map { ($0.name, $0) }) { first, _ in first }
        others = StreamAdmission(reserved: reserved.union(known.keys))
    }

    mutating func decode(
        _ message: PushMessage,
        into gathering: inout SampleGathering
    ) throws(PushRefusal) -> PushReply {
        let json: JSON
        do {
            json = try JSON.parse(message.body)
        } catch {
            throw PushRefusal(400, "The body is no JSON: \(error).")
        }
        let stream = naming.name(mapping.stream?.text ?? message.topic)
        let objects = json.array ?? [json]
        guard !objects.isEmpty, objects.allSatisfy({ $0.object != nil }) else {
            throw PushRefusal(400, "The body must be a JSON object, or a list of objects.")
        }
        for object in objects {
            let row = JSONRow(object, mapping, stream: stream, naming: naming)
            guard !row.values.isEmpty else {
                gathering.reject(stream, "an object without a value that is wanted")
                continue
            }
            do throws(StreamAdmission.Refusal) {
                try gathering.add(row, at: message, known: known, others: &others)
            } catch {
                let status = if case .taken = error { 409 } else { 429 }
                throw PushRefusal(status, "\(stream) is not taken: \(error).", retryAfter: .seconds(3600))
            }
        }
        return .ok
    }
}
