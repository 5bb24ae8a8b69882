// Sensor Logger (Kelvin Choi; iOS and Android): the sensors of a phone, its watch and its headphones, pushed as JSON.
//
// Hardware: whatever the phone has. Units and axes: its UNITS.md and COORDINATES.md. An iPhone's accelerations have the
// opposite sign, and some come in g, unless "Standardise Units & Frames" is on in the app: `platform` and `standardised`
// say so. Rate: up to 100 Hz a sensor, in batches of a second or so. What goes wrong: times of 19 digits do not fit a
// Double; messages come twice or out of order; rows come twice; `values` may be missing around the values; an iPhone has
// no acceleration with gravity, so it is put together from both parts.
internal import Diagnostics
internal import FastJSON
internal import Samples

struct SensorLoggerDecoder: PushDecoder {
    private let platform: PhonePlatform
    private let standard: PhoneStandard
    private let naming: StreamNaming
    private let wholeKind: Name
    private var told: [String: (platform: PhonePlatform, standard: PhoneStandard)] = [:]
    private var tables: [SensorLoggerProfile: SensorLoggerSensors] = [:]
    private var others: StreamAdmission
    private var parser = TapeParser()

    init(
        platform: PhonePlatform = .auto,
        standard: PhoneStandard = .auto,
        naming: StreamNaming = StreamNaming(suffix: nil),
        reserved: Set<Name> = []
    ) {
        self.platform = platform
        self.standard = standard
        self.naming = naming
        wholeKind = naming.name("sensor_logger")
        let known = SensorLoggerDecoder.streams(naming)
        others = StreamAdmission(reserved: reserved.union(known.map(\.name)))
    }

    /// Every stream that a known sensor becomes.
    static func streams(_ naming: StreamNaming) -> [Samples.Stream] {
        SensorLoggerSensors(SensorLoggerProfile(platform: .auto, standard: .auto), naming: naming).streams
    }

    mutating func decode(
        _ message: PushMessage,
        into gathering: inout SampleGathering
    ) throws(PushRefusal) -> PushReply {
        let tape: JSONTape
        do {
            tape = try parser.parse(message.body)
        } catch {
            throw PushRefusal(400, "The body is no message of Sensor Logger: \(error).")
        }
        let payload = tape.kind(tape.root) == .array ? tape.root : tape.member("payload", of: tape.root)
        guard let payload, tape.kind(payload) == .array else {
            throw PushRefusal(400, "The body is no message of Sensor Logger: there is no list \"payload\".")
        }
        func member(_ name: String) -> String? {
            tape.member(name, of: tape.root).flatMap { tape.string($0) ?? tape.int64($0).map { "\($0)" } }
        }
        let device = member("deviceId") ?? message.device ?? ""
        if let number = member("messageId"), let session = member("sessionId") {
            guard gathering.isNew(RecentKeys.key(device, session, number), of: wholeKind) else { return .ok }
        }
        learn(device, tape, tape.root)
        let sensors = sensors(for: device)
        read(payload, of: tape, sensors, device: device, at: message.arrival, into: &gathering)
        return .ok
    }

    // MARK: One message

    private mutating func read(
        _ payload: JSONTape.Node,
        of tape: JSONTape,
        _ sensors: SensorLoggerSensors,
        device: String,
        at arrival: BootInstant,
        into gathering: inout SampleGathering
    ) {
        /// The names of this message and whose columns they mean; nil for a sensor that is not known.
        var names: [(text: [UInt8], columns: Int?)] = []
        var columns: [SensorColumns] = []
        var unusable = 0
        tape.forEachElement(of: payload) { entry in
            var name: JSONTape.Text?
            var time: Timestamp?
            var values: JSONTape.Node?
            tape.forEachMember(of: entry) { key, value in
                if tape.equals(key, Keys.name) || tape.equals(key, Keys.sensor) {
                    name = tape.text(value)
                } else if tape.equals(key, Keys.time) {
                    time = Self.time(value, tape)
                } else if tape.equals(key, Keys.values) {
                    values = value
                }
            }
            guard let name else {
                unusable += 1
                return
            }
            var place = names.firstIndex { tape.equals(name, $0.text) }
            if place == nil, names.count < StreamAdmission.mostStreams {
                let known = sensors.sensors[SensorLoggerSensors.key(of: tape.string(name))]
                names.append((Array(tape.bytes(name)), known == nil ? nil : columns.count))
                if let known { columns.append(SensorColumns(known)) }
                place = names.count - 1
            }
            guard let place else {
                unusable += 1
                return
            }
            if let index = names[place].columns {
                if let time { columns[index].append(time, values ?? entry, of: tape) } else { unusable += 1 }
            } else {
                readOther(tape.string(name), time, values ?? entry, tape, device, arrival, &gathering)
            }
        }
        if unusable > 0 { gathering.reject(wholeKind, "an entry without a name or a time", count: unusable) }
        for column in columns {
            if column.empty > 0, let stream = column.sensor.shapes.first?.stream {
                gathering.reject(stream.name, "a sample without a value", count: column.empty)
            }
            for (shape, values) in zip(column.sensor.shapes, column.values) {
                add(shape, column.times, values, into: &gathering)
            }
        }
        addWholeAcceleration(columns, sensors, into: &gathering)
    }

    private func add(
        _ shape: SensorShape,
        _ times: [Timestamp],
        _ values: [Value],
        into gathering: inout SampleGathering
    ) {
        let width = shape.stream.fields.count
        let isEmpty = { (row: Int) in values[row * width..<(row + 1) * width].allSatisfy { $0 == .missing } }
        // A barometer without `relativeAltitude` has none in each row.
        guard times.indices.contains(where: isEmpty) else {
            gathering.add(shape.stream, times: times, values: values)
            return
        }
        for row in times.indices where !isEmpty(row) {
            gathering.add(shape.stream, times[row], Array(values[row * width..<(row + 1) * width]))
        }
    }

    /// An iPhone gives acceleration and gravity apart, with the same times: their sum is what an accelerometer reads.
    private func addWholeAcceleration(
        _ columns: [SensorColumns],
        _ sensors: SensorLoggerSensors,
        into gathering: inout SampleGathering
    ) {
        func rows(of stream: Samples.Stream) -> (times: [Timestamp], values: [Value])? {
            columns.first { $0.sensor.shapes.first?.stream == stream }.map { ($0.times, $0.values[0]) }
        }
        guard rows(of: sensors.acceleration) == nil, let user = rows(of: sensors.userAcceleration),
            let gravity = rows(of: sensors.gravityStream)
        else { return }
        var places: [Timestamp: Int] = [:]
        for (row, time) in gravity.times.enumerated() { places[time] = row }
        var times: [Timestamp] = []
        var values: [Value] = []
        for (row, time) in user.times.enumerated() {
            guard let other = places[time] else { continue }
            times.append(time)
            for axis in 0..<3 {
                let sum = user.values[row * 3 + axis].number.flatMap { own in
                    gravity.values[other * 3 + axis].number.map { own + $0 }
                }
                values.append(.number(sum))
            }
        }
        gathering.add(sensors.acceleration, times: times, values: values)
    }

    // MARK: Sensors that are not known

    private mutating func readOther(
        _ name: String,
        _ time: Timestamp?,
        _ values: JSONTape.Node,
        _ tape: JSONTape,
        _ device: String,
        _ arrival: BootInstant,
        _ gathering: inout SampleGathering
    ) {
        switch SensorLoggerSensors.key(of: name) {
        case "metadata":
            learn(device, tape, values)
            return
        case "camera", "test":
            // Pictures are no samples; a test has none.
            return
        case "bluetooth":
            if let time, readBeacon(time, values, tape, &gathering) { return }
        default: break
        }
        guard let time else { return gathering.reject(wholeKind, "\(name) without a time") }
        var fields: [Field] = []
        var found: [Name: Value] = [:]
        tape.forEachMember(of: values) { key, node in
            let text = tape.string(key)
            guard !["name", "sensor", "time", "seconds_elapsed"].contains(text),
                let (kind, value) = Self.other(node, tape), fields.count < StreamAdmission.mostFields
            else { return }
            let field = Field(Name(mapping: Self.underscored(text)), kind: kind)
            if found.updateValue(value, forKey: field.name) == nil { fields.append(field) }
        }
        guard !fields.isEmpty else { return gathering.reject(wholeKind, "\(name) without a value") }
        do {
            let stream = try others.stream(naming.name(name), fields: fields, at: arrival)
            gathering.add(stream, time, stream.fields.map { (found[$0.name] ?? .missing).fitting($0.kind) })
        } catch {
            gathering.reject(wholeKind, "\(name): \(error)")
        }
    }

    private static func other(_ node: JSONTape.Node, _ tape: JSONTape) -> (FieldKind, Value)? {
        if let number = tape.double(node) { return (.real, Value(number)) }
        if let flag = tape.bool(node) { return (.flag, .flag(flag)) }
        return tape.string(node).map { (.text, .word($0)) }
    }

    /// `batteryLevel` becomes `battery_Level`, which as a name is `battery_level`.
    static func underscored(_ text: String) -> String {
        var result = ""
        var wasSmall = false
        for character in text.prefix(128) {
            if character.isUppercase, wasSmall { result.append("_") }
            result.append(character == "." ? "_" : character)
            wasSmall = character.isLowercase
        }
        return result
    }

    private func readBeacon(
        _ time: Timestamp,
        _ values: JSONTape.Node,
        _ tape: JSONTape,
        _ gathering: inout SampleGathering
    ) -> Bool {
        guard let text = tape.member("manufacturerData", of: values).flatMap(tape.string),
            let beacon = BeaconAdvert(manufacturerData: text)
        else { return false }
        let signal = tape.member("rssi", of: values).flatMap(tape.double)
        gathering.add(naming.known("beacon"), time, beacon.values(rssi: signal))
        return true
    }

    // MARK: Devices

    private mutating func learn(_ device: String, _ tape: JSONTape, _ node: JSONTape.Node) {
        var platform: PhonePlatform?
        var standard: PhoneStandard?
        if let word = tape.member("platform", of: node).flatMap(tape.string) {
            platform = PhonePlatform(rawValue: word.lowercased())
        }
        if let setting = tape.member("standardisation", of: node) {
            let word = tape.string(setting)?.lowercased()
            standard = (tape.bool(setting) ?? (word == "true" || word == "on")) ? .on : .off
        }
        guard platform != nil || standard != nil, told.count < 64 || told[device] != nil else { return }
        let known = told[device] ?? (.auto, .auto)
        told[device] = (platform ?? known.platform, standard ?? known.standard)
    }

    private mutating func sensors(for device: String) -> SensorLoggerSensors {
        let told = told[device] ?? (.auto, .auto)
        let profile = SensorLoggerProfile(
            platform: platform == .auto ? told.platform : platform,
            standard: standard == .auto ? told.standard : standard
        )
        if let table = tables[profile] { return table }
        let table = SensorLoggerSensors(profile, naming: naming)
        tables[profile] = table
        return table
    }

    private static func time(_ node: JSONTape.Node, _ tape: JSONTape) -> Timestamp? {
        if let number = tape.int64(node) { return Timestamp(nanoseconds: number) }
        return tape.string(node).flatMap { Int64($0) }.map { Timestamp(nanoseconds: $0) }
    }

    private enum Keys {
        static let name = Array("name".utf8)
        static let sensor = Array("sensor".utf8)
        static let time = Array("time".utf8)
        static let values = Array("values".utf8)
    }
}

/// A parser that a decoder, which is a value, can hold.
struct TapeParser: Sendable {
    private let parser = Guarded(JSONTapeParser())

    func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONTape {
        try parser.withLock { parser throws(JSONError) in try parser.parse(bytes) }
    }
}
