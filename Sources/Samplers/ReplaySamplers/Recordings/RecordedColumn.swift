internal import Samples

/// What a column of a recording is.
enum RecordedColumn: Equatable {
    case skipped
    /// A time, whose unit is ten to this power of nanoseconds; nil: its digits say.
    case time(power: Int?)
    /// A value: the place of its stream and field among `RecordedColumn.groups`, and what brings it to our unit.
    case value(group: Int, field: Int, factor: Double)

    /// The streams that a table can hold, with the short names of their fields.
    static let groups: [(stream: String, fields: [String])] = [
        ("accelerometer", ["ax", "ay", "az"]),
        ("accelerometer", ["a"]),
        ("user_acceleration", ["ux", "uy", "uz"]),
        ("gyroscope", ["gx", "gy", "gz"]),
        ("magnetometer", ["mx", "my", "mz"]),
        ("pressure", ["pressure"]),
        ("location", ["lat", "lon", "ele", "accuracy", "speed", "course"]),
    ]

    static let accelerations = 0...2
    static let magnitude = 1
    static let userAcceleration = 2
    static let gyroscope = 3
    static let magnetometer = 4

    /// The column that the word means: of `--columns`, or of a header.
    init?(_ word: String, _ options: RecordingOptions) {
        var text = word.lowercased()
        var unit: String?
        // A unit behind the name: `Accelerometer X (g)`.
        if text.hasSuffix(")"), let open = text.lastIndex(of: "(") {
            unit = String(text[text.index(after: open)...].dropLast())
            text = String(text[..<open])
        }
        text = String(text.map { $0 == " " || $0 == "-" || $0 == "." ? "_" : $0 })
        while text.hasSuffix("_") { text.removeLast() }
        if let time = RecordedColumn.time(text, unit) {
            self = time
            return
        }
        guard let place = RecordedColumn.place(text),
            let factor = RecordedColumn.factor(place.group, unit, options)
        else { return nil }
        self = .value(group: place.group, field: place.field, factor: factor)
    }

    private static func time(_ text: String, _ unit: String?) -> RecordedColumn? {
        switch (text, unit) {
        case ("time_ns", _), ("timestamp_ns", _), ("time", "ns"): .time(power: 0)
        case ("time_us", _), ("time", "us"): .time(power: 3)
        case ("time_ms", _), ("timestamp_ms", _), ("time", "ms"): .time(power: 6)
        case ("time_s", _), ("t_s", _), ("time", "s"), ("seconds_elapsed", _): .time(power: 9)
        case ("time", nil), ("timestamp", nil), ("t", nil): .time(power: nil)
        default: nil
        }
    }

    private static func place(_ text: String) -> (group: Int, field: Int)? {
        for (group, entry) in groups.enumerated() {
            if let field = entry.fields.firstIndex(of: text) { return (group, field) }
        }
        for (name, field) in [
            ("pressure_hpa", (5, 0)), ("latitude", (6, 0)), ("longitude", (6, 1)), ("altitude", (6, 2)),
            ("elevation", (6, 2)), ("horizontalaccuracy", (6, 3)), ("bearing", (6, 5)),
        ] where name == text { return field }
        // `acc_x`, `gyr_y`, `magnetometer_z`, `absolute acceleration`.
        if text == "magnitude" || text == "absolute_acceleration" { return (magnitude, 0) }
        let parts = text.split(separator: "_")
        guard parts.count >= 2, let axis = ["x", "y", "z"].firstIndex(of: parts[parts.count - 1]) else { return nil }
        let kind = parts[..<(parts.count - 1)].joined(separator: "_")
        switch kind {
        case "acc", "accel", "accelerometer", "acceleration": return (0, axis)
        case "user_acceleration", "linear_acceleration": return (userAcceleration, axis)
        case "gyr", "gyro", "gyroscope": return (gyroscope, axis)
        case "mag", "magnetometer", "magnetic_field": return (magnetometer, axis)
        default: return nil
        }
    }

    /// What brings a value to our unit; an option beats the header.
    private static func factor(_ group: Int, _ unit: String?, _ options: RecordingOptions) -> Double? {
        switch group {
        case accelerations:
            let isG = (options.accelerationUnit ?? unit) == "g"
            let sign = options.hasPhoneSign && group != magnitude ? -1.0 : 1.0
            return sign * (isG ? 9.80665 : 1)
        case gyroscope:
            let unit = options.gyroscopeUnit ?? unit
            return ["deg/s", "°/s", "dps"].contains(unit) ? .pi / 180 : 1
        case magnetometer:
            let unit = options.magneticUnit ?? unit
            return unit == "gauss" || unit == "g" ? 100 : 1
        default:
            return unit == "kpa" ? 10 : 1
        }
    }
}
