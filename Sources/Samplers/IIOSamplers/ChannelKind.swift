internal import Samples

/// What a type of channel becomes: the stream, the unit, and what the kernel's unit is multiplied by.
struct ChannelKind: Sendable, Hashable {
    /// The name of the stream.
    let stream: String
    /// The unit of the values.
    let unit: Unit
    /// One unit of the kernel in ours: it measures magnetic fields in Gauss, pressure in kPa, temperature in m°C.
    let factor: Double
    /// What a sensor can read at all. Anything else is a fault of the driver, such as a sign that was not extended.
    let range: ClosedRange<Double>
    /// Whether it has the axes x, y and z of the device, which a mount matrix turns.
    let isVector: Bool

    private init(_ stream: String, _ unit: Unit, _ factor: Double, _ range: ClosedRange<Double>, isVector: Bool = false)
    {
        self.stream = stream
        self.unit = unit
        self.factor = factor
        self.range = range
        self.isVector = isVector
    }

    /// The kind of a type; an unknown one keeps its name and its numbers.
    static func of(_ type: String) -> ChannelKind {
        table[type] ?? ChannelKind(type, .none, 1, anything)
    }

    /// The types that are known.
    static var types: Dictionary<String, ChannelKind>.Keys { table.keys }

    private static let anything = -1e15...1e15

    private static let table: [String: ChannelKind] = [
        "accel": ChannelKind("accelerometer", .metresPerSecondSquared, 1, -4_000...4_000, isVector: true),
        "gravity": ChannelKind("gravity", .metresPerSecondSquared, 1, -100...100, isVector: true),
        "anglvel": ChannelKind("gyroscope", .radiansPerSecond, 1, -200...200, isVector: true),
        "magn": ChannelKind("magnetometer", .microtesla, 100, -1e6...1e6, isVector: true),
        "pressure": ChannelKind("pressure", .hectopascals, 10, 0...1e6),
        "temp": ChannelKind("temperature", .degreesCelsius, 0.001, -273.15...3_000),
        "humidityrelative": ChannelKind("humidity", .percent, 0.001, -5...110),
        "illuminance": ChannelKind("light", .lux, 1, 0...1e8),
        "proximity": ChannelKind("proximity", .none, 1, anything),
        "intensity": ChannelKind("intensity", .none, 1, anything),
        "uvindex": ChannelKind("uv_index", .none, 1, 0...100),
        "colortemp": ChannelKind("colour_temperature", Unit(rawValue: "K"), 1, 0...1e6),
        "chromaticity": ChannelKind("chromaticity", .none, 1, 0...1),
        "steps": ChannelKind("steps", .none, 1, 0...1e15),
        "distance": ChannelKind("distance", .metres, 1, 0...1e9),
        "velocity": ChannelKind("velocity", .metresPerSecond, 1, -1e4...1e4),
        "activity": ChannelKind("activity_percent", .percent, 1, 0...100),
        "energy": ChannelKind("energy", .joules, 1, -1e15...1e15),
        "rot": ChannelKind("rotation", .degrees, 1, -1_000...1_000),
        "incli": ChannelKind("inclination", .degrees, 1, -360...360),
        "angl": ChannelKind("angle", .radians, 1, -100...100),
        "deltaangl": ChannelKind("delta_angle", .radians, 1, -1e4...1e4),
        "deltavelocity": ChannelKind("delta_velocity", .metresPerSecond, 1, -1e4...1e4),
        "voltage": ChannelKind("voltage", .volts, 0.001, -1e6...1e6),
        "altvoltage": ChannelKind("alternating_voltage", .volts, 0.001, -1e6...1e6),
        "current": ChannelKind("current", .amperes, 0.001, -1e6...1e6),
        "altcurrent": ChannelKind("alternating_current", .amperes, 0.001, -1e6...1e6),
        "power": ChannelKind("power", .watts, 0.001, -1e9...1e9),
        "resistance": ChannelKind("resistance", Unit(rawValue: "ohm"), 1, 0...1e12),
        "capacitance": ChannelKind("capacitance", Unit(rawValue: "nF"), 1, 0...1e12),
        "electricalconductivity": ChannelKind("conductivity", Unit(rawValue: "S/m"), 1, 0...1e9),
        "concentration": ChannelKind("concentration", .percent, 1, 0...100),
        "massconcentration": ChannelKind("mass_concentration", Unit(rawValue: "ug/m^3"), 1, 0...1e9),
        "ph": ChannelKind("ph", .none, 1, -2...16),
        "phase": ChannelKind("phase", .radians, 1, -100...100),
        "positionrelative": ChannelKind("position", .percent, 0.001, -1e6...1e6),
        "count": ChannelKind("counter", .none, 1, anything),
        "index": ChannelKind("index", .none, 1, anything),
    ]
}
