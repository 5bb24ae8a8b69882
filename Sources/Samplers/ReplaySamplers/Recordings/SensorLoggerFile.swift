internal import Compression
internal import Diagnostics
internal import FastJSON
public import Samples

/// What Sensor Logger exports as JSON or sends: objects with a sensor's name, a time in nanoseconds and values.
///
/// An export is one array whose objects hold their values as texts; a message holds them in `payload`. Objects are found
/// by their braces, so that a file of any size needs the memory of one.
public struct SensorLoggerFile: RecordedSource {
    private static let chunk = 512
    private static let longestObject = 1 << 16

    /// Every stream that a sensor of the app can become.
    public let streams: [Stream]
    /// Broken objects so far.
    public private(set) var rejects = 0
    /// Why the first of them is broken.
    public private(set) var example = ""

    private let file: DecompressingFile
    private let path: String
    private let options: RecordingOptions
    private var memory = [UInt8](repeating: 0, count: 65_536)
    private var object: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private var isTooLong = false
    private var isAtEnd = false

    /// The app's sensors, ours, and the app's values in the order of our fields.
    private static let sensors: [(names: [String], stream: String, values: [String])] = [
        (["totalacceleration", "accelerometeruncalibrated"], "accelerometer", ["x", "y", "z"]),
        (["accelerometer"], "user_acceleration", ["x", "y", "z"]),
        (["gravity"], "gravity", ["x", "y", "z"]),
        (["gyroscope", "gyroscopeuncalibrated"], "gyroscope", ["x", "y", "z"]),
        (["magnetometer", "magnetometeruncalibrated"], "magnetometer", ["x", "y", "z"]),
        (["barometer"], "pressure", ["pressure"]),
        (
            ["location"], "location",
            ["latitude", "longitude", "altitude", "horizontalAccuracy", "speed", "bearing"]
        ),
        (["light"], "light", ["lux"]),
    ]

    /// Opens the file.
    init(_ path: String, _ options: RecordingOptions) throws(ReplayError) {
        self.path = path
        self.options = options
        do throws(CompressionError) {
            file = try DecompressingFile(path)
        } catch {
            throw ReplayError(kind: .file, description: error.description)
        }
        streams = SensorLoggerFile.sensors.map { sensor in
            let name = Name(mapping: sensor.stream)
            return Stream(name, fields: KnownStreams.fields(of: name) ?? [])
        }
    }

    /// The next objects.
    public mutating func next() throws(ReplayError) -> [SampleBatch]? {
        guard !isAtEnd else { return nil }
        var batches = streams.map { SampleBatch($0, arrival: BootInstant(nanoseconds: 0)) }
        while !batches.contains(where: { $0.count >= SensorLoggerFile.chunk }) {
            let count: Int
            do throws(CompressionError) {
                count = try read()
            } catch {
                throw ReplayError(kind: .file, description: error.description)
            }
            guard count > 0 else {
                isAtEnd = true
                break
            }
            for place in 0..<count { take(memory[place], into: &batches) }
        }
        return batches.filter { !$0.isEmpty }
    }

    private mutating func read() throws(CompressionError) -> Int {
        let file = file
        var result = Result<Int, CompressionError>.success(0)
        memory.withUnsafeMutableBytes { bytes in
            result = Result { () throws(CompressionError) in try file.read(into: bytes) }
        }
        return try result.get()
    }

    /// Follows braces; what stands between those of a sensor's object is parsed. A message's braces are only opened.
    private mutating func take(_ byte: UInt8, into batches: inout [SampleBatch]) {
        if depth > 0, object.count < SensorLoggerFile.longestObject {
            object.append(byte)
        } else {
            isTooLong = depth > 0
        }
        if isInText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInText = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"):
            if depth == 0 { object = [byte] }
            depth += 1
        case UInt8(ascii: "["):
            // The payload of a message: its objects are what counts, not the message around them.
            if depth == 1 { depth = 0 }
        case UInt8(ascii: "}"):
            guard depth > 0 else { return }
            depth -= 1
            guard depth == 0 else { return }
            finish(into: &batches)
        default: break
        }
    }

    private mutating func finish(into batches: inout [SampleBatch]) {
        defer {
            object.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        guard !isTooLong, let json = try? JSON.parse(object) else { return reject("an object is no JSON") }
        guard let name = (json["sensor"] ?? json["name"])?.string else { return reject("an object names no sensor") }
        let key = String(name.lowercased().filter { $0 != " " && $0 != "_" })
        guard let place = SensorLoggerFile.sensors.firstIndex(where: { $0.names.contains(key) }) else { return }
        guard let time = SensorLoggerFile.time(json["time"]) else { return reject("\(name) has no time") }
        let values = json["values"] ?? json
        let sensor = SensorLoggerFile.sensors[place]
        var row = sensor.values.map { SensorLoggerFile.number(values[$0]).map { $0 * factor(sensor.stream) } }
        // A negative accuracy, speed or bearing is one that is not known.
        if sensor.stream == "location" {
            for field in 3..<row.count { row[field] = row[field].flatMap { $0 < 0 ? nil : $0 } }
        }
        guard row.contains(where: { $0 != nil }) else { return reject("\(name) has no value") }
        batches[place].append(time: Timestamp(nanoseconds: time), row.map { $0.map { Value($0) } ?? .missing })
    }

    private func factor(_ stream: String) -> Double {
        switch stream {
        case "accelerometer", "user_acceleration", "gravity":
            (options.hasPhoneSign ? -1 : 1) * (options.accelerationUnit == "g" ? 9.80665 : 1)
        case "gyroscope": options.gyroscopeUnit == "deg/s" ? .pi / 180 : 1
        case "magnetometer": options.magneticUnit == "gauss" ? 100 : 1
        default: 1
        }
    }

    private mutating func reject(_ reason: String) {
        if rejects == 0 { example = "\(path): \(reason)" }
        rejects += 1
    }

    private static func time(_ value: JSON?) -> Int64? {
        guard let time = value?.int64 ?? value?.string.flatMap({ Int64($0) }) else { return nil }
        return time.magnitude <= RowParser.largestTime.magnitude ? time : nil
    }

    private static func number(_ value: JSON?) -> Double? {
        value?.double ?? value?.string.flatMap { Double($0) }
    }
}
