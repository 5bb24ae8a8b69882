// Devices on a local broker: Zigbee2MQTT, Tasmota, ESPHome, and anything else that publishes a bare value or JSON.
//
// The stream is the topic with dots for its slashes, unless the configuration names one. Time: a member of the payload
// (`last_seen` of Zigbee2MQTT), else the time of arrival. What goes wrong: a message that the broker kept from before is
// no news, so it counts only with a time of its own; what is sent to a device (`/set`, `/get`, `cmnd/`) is no reading;
// Tasmota's `Time` has no zone, so it is not used; a bare value may be a number, ON or OFF, or a word.
internal import Diagnostics
internal import FastJSON
internal import Samples

struct DeviceDecoder: PushDecoder {
    private let shape: DeviceShape
    private let naming: StreamNaming
    private let known: [Name: Samples.Stream]
    private var others: StreamAdmission
    private let value = Name(mapping: "value")

    init(
        _ shape: DeviceShape,
        naming: StreamNaming = StreamNaming(suffix: nil),
        reserved: Set<Name> = []
    ) {
        self.shape = shape
        self.naming = naming
        known = Dictionary(shape.mapping.streams(naming).map { ($0.name, $0) }) { first, _ in first }
        others = StreamAdmission(reserved: reserved.union(known.keys))
    }

    mutating func decode(
        _ message: PushMessage,
        into gathering: inout SampleGathering
    ) throws(PushRefusal) -> PushReply {
        guard let place = shape.place(of: message.topic) else { return .ok }
        let stream = naming.name(shape.mapping.stream?.text ?? place.joined(separator: "."))
        do throws(StreamAdmission.Refusal) {
            try read(message, stream, into: &gathering)
        } catch {
            throw PushRefusal(429, "\(message.topic) is not taken: \(error).")
        }
        return .ok
    }

    private mutating func read(
        _ message: PushMessage,
        _ stream: Name,
        into gathering: inout SampleGathering
    ) throws(StreamAdmission.Refusal) {
        guard let json = try? JSON.parse(message.body), json.object != nil else {
            return try readBare(message, stream, into: &gathering)
        }
        if shape.preset == .tasmota, shape.mapping.entries.isEmpty {
            return try readTasmota(json, message, stream, into: &gathering)
        }
        var mapping = shape.mapping
        if shape.preset == .zigbee2mqtt, mapping.time == nil { mapping.time = "last_seen" }
        try add(
            JSONRow(json, mapping, stream: stream, naming: naming, units: units),
            message,
            stream,
            into: &gathering
        )
    }

    private var units: [String: Unit] { shape.preset == nil ? [:] : DeviceShape.units }

    /// Each sensor is an object of its own: `"BME280":{"Temperature":21.5}`; what stands beside them is about the device.
    private mutating func readTasmota(
        _ json: JSON,
        _ message: PushMessage,
        _ stream: Name,
        into gathering: inout SampleGathering
    ) throws(StreamAdmission.Refusal) {
        guard let members = json.object else { return }
        var isUsed = false
        for (key, inner) in members where inner.object != nil {
            let name = naming.name("\(stream).\(SensorLoggerDecoder.underscored(key))")
            var row = JSONRow(inner, JSONMapping(time: "/"), stream: name, naming: naming, units: units)
            if json["TempUnit"]?.string == "F" { row.convertFahrenheit() }
            guard !row.values.isEmpty else { continue }
            isUsed = true
            try add(row, message, name, into: &gathering)
        }
        guard !isUsed else { return }
        var row = JSONRow(json, JSONMapping(time: "Time"), stream: stream, naming: naming, units: units)
        row.time = nil
        try add(row, message, stream, into: &gathering)
    }

    private mutating func readBare(
        _ message: PushMessage,
        _ stream: Name,
        into gathering: inout SampleGathering
    ) throws(StreamAdmission.Refusal) {
        guard let text = String(validating: message.body.prefix(256), as: UTF8.self) else {
            return gathering.reject(stream, "a payload that is no text")
        }
        let word = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !word.isEmpty, word.lowercased() != "nan" else { return gathering.reject(stream, "an empty payload") }
        var row = JSONRow(.null, JSONMapping(), stream: stream, naming: naming)
        let found: (FieldKind, Value) =
            Double(word).map { (.real, Value($0)) } ?? JSONRow.value(.string(word)) ?? (.text, .word(word))
        let field = KnownStreams.fields(of: stream)?.first { $0.name == value }
        row.values.append((stream, field ?? Field(value, kind: found.0), found.1))
        try add(row, message, stream, into: &gathering)
    }

    private mutating func add(
        _ row: JSONRow,
        _ message: PushMessage,
        _ stream: Name,
        into gathering: inout SampleGathering
    ) throws(StreamAdmission.Refusal) {
        guard !row.values.isEmpty else { return gathering.reject(stream, "a payload without a value that is wanted") }
        // What the broker kept may be years old.
        if message.isRetained, row.time == nil { return }
        try gathering.add(row, at: message, known: known, others: &others)
    }
}
