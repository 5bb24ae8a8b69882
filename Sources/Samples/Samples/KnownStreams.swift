/// The streams whose fields have the same meaning wherever they come from, with their units.
///
/// A source that knows no better asks here: a file that is replayed as `accelerometer` has m/s^2.
public enum KnownStreams {
    /// The fields of the stream called `name`, in their order; nil when the name says nothing.
    ///
    /// A second device of a kind has a suffix: `accelerometer.lid` is an `accelerometer`.
    public static func fields(of name: Name) -> [Field]? {
        var text = name.text
        while true {
            if let fields = table[text] { return fields }
            guard let dot = text.lastIndex(of: ".") else { return nil }
            text = String(text[..<dot])
        }
    }

    /// What `field` of the stream called `name` is: known, or a number without unit.
    public static func field(_ field: Name, of name: Name) -> Field {
        fields(of: name)?.first { $0.name == field } ?? Field(field)
    }

    private static let table: [String: [Field]] = {
        var table: [String: [Field]] = [:]
        func add(_ name: String, _ fields: (String, Unit, FieldKind)...) {
            table[name] = fields.map { Field(Name(mapping: $0.0), unit: $0.1, kind: $0.2) }
        }
        func addAxes(_ name: String, _ unit: Unit) {
            add(name, ("x", unit, .real), ("y", unit, .real), ("z", unit, .real))
        }
        for name in ["accelerometer", "gravity", "user_acceleration"] { addAxes(name, .metresPerSecondSquared) }
        for name in ["gyroscope", "rotation_rate"] { addAxes(name, .radiansPerSecond) }
        addAxes("magnetometer", .microtesla)
        add("pressure", ("value", .hectopascals, .real))
        add("temperature", ("value", .degreesCelsius, .real))
        add("humidity", ("value", .percent, .real))
        add("light", ("value", .lux, .real))
        add("screen", ("brightness", .none, .real))
        add("image", ("brightness_value", .none, .real), ("luminance", Unit(rawValue: "cd/m^2"), .real))
        add("proximity", ("near", .none, .flag))
        add(
            "location",
            ("lat", .degrees, .real),
            ("lon", .degrees, .real),
            ("altitude", .metres, .real),
            ("accuracy", .metres, .real),
            ("speed", .metresPerSecond, .real),
            ("course", .degrees, .real)
        )
        add("heart_rate", ("bpm", .beatsPerMinute, .real), ("rr", .seconds, .real))
        add(
            "beacon",
            ("uuid", .none, .text),
            ("major", .none, .integer),
            ("minor", .none, .integer),
            ("rssi", Unit(rawValue: "dBm"), .real),
            ("power", Unit(rawValue: "dBm"), .real)
        )
        add(
            "steps",
            ("count", .none, .integer),
            ("cadence", Unit(rawValue: "1/s"), .real),
            ("distance", .metres, .real),
            ("pace", Unit(rawValue: "s/m"), .real)
        )
        add(
            "pedometer",
            ("event", .none, .text),
            ("active", .seconds, .real),
            ("active_pace", Unit(rawValue: "s/m"), .real)
        )
        add("floors", ("up", .none, .integer), ("down", .none, .integer))
        add(
            "attitude",
            ("qw", .none, .real),
            ("qx", .none, .real),
            ("qy", .none, .real),
            ("qz", .none, .real),
            ("roll", .radians, .real),
            ("pitch", .radians, .real),
            ("yaw", .radians, .real)
        )
        add(
            "magnetic_field",
            ("x", .microtesla, .real),
            ("y", .microtesla, .real),
            ("z", .microtesla, .real),
            ("accuracy", .none, .integer)
        )
        add("heading", ("degrees", .degrees, .real), ("accuracy", .degrees, .real))
        add("battery", ("level", .percent, .real), ("state", .none, .text))
        add("shake", ("event", .none, .text))
        add("orientation", ("face", .none, .text))
        add("activity", ("class", .none, .text), ("confidence", .none, .real))
        add("altitude", ("relative", .metres, .real))
        add(
            "run",
            ("event", .none, .text),
            ("distance", .metres, .real),
            ("duration", .seconds, .real),
            ("moving", .seconds, .real),
            ("pace", Unit(rawValue: "s/m"), .real),
            ("cadence", Unit(rawValue: "1/s"), .real),
            ("climb", .metres, .real)
        )
        add("run.control", ("command", .none, .text))
        add(
            "run.split",
            ("number", .none, .integer),
            ("distance", .metres, .real),
            ("moving", .seconds, .real),
            ("pace", Unit(rawValue: "s/m"), .real),
            ("climb", .metres, .real)
        )
        add(
            "run.session",
            ("date", .none, .text),
            ("distance", Unit(rawValue: "km"), .real),
            ("duration", .seconds, .real),
            ("moving", .seconds, .real),
            ("ascent", .metres, .real),
            ("descent", .metres, .real)
        )
        add("geofence", ("region", .none, .text), ("event", .none, .text))
        add("beacon.region", ("region", .none, .text), ("event", .none, .text))
        add(
            "beacon.nearest",
            ("region", .none, .text),
            ("uuid", .none, .text),
            ("major", .none, .integer),
            ("minor", .none, .integer),
            ("proximity", .none, .text),
            ("accuracy", .metres, .real)
        )
        add("ambient_light", ("class", .none, .text), ("value", .lux, .real))
        add("heart_zone", ("zone", .none, .integer), ("bpm", .beatsPerMinute, .real))
        add(
            "heart_variability",
            ("rmssd", .seconds, .real),
            ("sdnn", .seconds, .real),
            ("beats", .none, .integer),
            ("rejected", .none, .integer)
        )
        add(
            "vibration",
            ("rms", .metresPerSecondSquared, .real),
            ("peak", .metresPerSecondSquared, .real),
            ("crest", .none, .real),
            ("frequency", Unit(rawValue: "Hz"), .real),
            ("velocity", Unit(rawValue: "mm/s"), .real)
        )
        add("beacons", ("region", .none, .text), ("proximity", .none, .text), ("accuracy", .metres, .real))
        add(
            "host.load",
            ("one_minute", .none, .real),
            ("five_minutes", .none, .real),
            ("fifteen_minutes", .none, .real)
        )
        add("host.uptime", ("seconds", .seconds, .real))
        add(
            "host.memory",
            ("used", .bytes, .integer),
            ("available", .bytes, .integer),
            ("total", .bytes, .integer)
        )
        add("host.swap", ("used", .bytes, .integer), ("total", .bytes, .integer))
        add("host.network", ("received", .bytesPerSecond, .real), ("sent", .bytesPerSecond, .real))
        add("host.disk", ("read", .bytesPerSecond, .real), ("written", .bytesPerSecond, .real))
        add("host.thermal", ("temperature", .degreesCelsius, .real))
        return table
    }()
}
