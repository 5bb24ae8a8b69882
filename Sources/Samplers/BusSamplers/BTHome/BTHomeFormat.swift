/// How an object lies in a packet.
struct BTHomeFormat {
    let object: String
    let bytes: Int
    var isSigned = false
    var divisor = 1.0
    var unit = ""

    /// The number before it is divided; nil when it is cut off.
    func read(_ reader: inout ByteReader) -> Double? {
        if isSigned {
            guard let number = reader.signed(bytes) else { return nil }
            return Double(number)
        }
        guard let number = reader.unsigned(bytes) else { return nil }
        return Double(number)
    }

    /// The id of the packet's own number.
    static let packetID: UInt8 = 0x00

    /// By id, as https://bthome.io/format lists them.
    static let formats: [UInt8: BTHomeFormat] = {
        var formats = numbers
        formats[packetID] = BTHomeFormat(object: "packet_id", bytes: 1)
        for (id, name) in flags { formats[id] = BTHomeFormat(object: name, bytes: 1) }
        return formats
    }()

    private static let numbers: [UInt8: BTHomeFormat] = [
        0x01: BTHomeFormat(object: "battery", bytes: 1, unit: "%"),
        0x02: BTHomeFormat(object: "temperature", bytes: 2, isSigned: true, divisor: 100, unit: "°C"),
        0x03: BTHomeFormat(object: "humidity", bytes: 2, divisor: 100, unit: "%"),
        0x04: BTHomeFormat(object: "pressure", bytes: 3, divisor: 100, unit: "hPa"),
        0x05: BTHomeFormat(object: "illuminance", bytes: 3, divisor: 100, unit: "lx"),
        0x06: BTHomeFormat(object: "mass", bytes: 2, divisor: 100, unit: "kg"),
        0x07: BTHomeFormat(object: "mass_lb", bytes: 2, divisor: 100, unit: "lb"),
        0x08: BTHomeFormat(object: "dew_point", bytes: 2, isSigned: true, divisor: 100, unit: "°C"),
        0x09: BTHomeFormat(object: "count", bytes: 1),
        0x0A: BTHomeFormat(object: "energy", bytes: 3, divisor: 1000, unit: "kWh"),
        0x0B: BTHomeFormat(object: "power", bytes: 3, divisor: 100, unit: "W"),
        0x0C: BTHomeFormat(object: "voltage", bytes: 2, divisor: 1000, unit: "V"),
        0x0D: BTHomeFormat(object: "pm2_5", bytes: 2, unit: "ug/m^3"),
        0x0E: BTHomeFormat(object: "pm10", bytes: 2, unit: "ug/m^3"),
        0x12: BTHomeFormat(object: "co2", bytes: 2, unit: "ppm"),
        0x13: BTHomeFormat(object: "tvoc", bytes: 2, unit: "ug/m^3"),
        0x14: BTHomeFormat(object: "moisture", bytes: 2, divisor: 100, unit: "%"),
        0x2E: BTHomeFormat(object: "humidity", bytes: 1, unit: "%"),
        0x2F: BTHomeFormat(object: "moisture", bytes: 1, unit: "%"),
        0x3A: BTHomeFormat(object: "button", bytes: 1),
        0x3C: BTHomeFormat(object: "dimmer", bytes: 2),
        0x3D: BTHomeFormat(object: "count", bytes: 2),
        0x3E: BTHomeFormat(object: "count", bytes: 4),
        0x3F: BTHomeFormat(object: "rotation", bytes: 2, isSigned: true, divisor: 10, unit: "deg"),
        0x40: BTHomeFormat(object: "distance", bytes: 2, divisor: 1000, unit: "m"),
        0x41: BTHomeFormat(object: "distance", bytes: 2, divisor: 10, unit: "m"),
        0x42: BTHomeFormat(object: "duration", bytes: 3, divisor: 1000, unit: "s"),
        0x43: BTHomeFormat(object: "current", bytes: 2, divisor: 1000, unit: "A"),
        0x44: BTHomeFormat(object: "speed", bytes: 2, divisor: 100, unit: "m/s"),
        0x45: BTHomeFormat(object: "temperature", bytes: 2, isSigned: true, divisor: 10, unit: "°C"),
        0x46: BTHomeFormat(object: "uv_index", bytes: 1, divisor: 10),
        0x47: BTHomeFormat(object: "volume", bytes: 2, divisor: 10, unit: "L"),
        0x48: BTHomeFormat(object: "volume", bytes: 2, divisor: 1000, unit: "L"),
        0x49: BTHomeFormat(object: "flow_rate", bytes: 2, divisor: 1000, unit: "m^3/h"),
        0x4A: BTHomeFormat(object: "voltage", bytes: 2, divisor: 10, unit: "V"),
        0x4B: BTHomeFormat(object: "gas", bytes: 3, divisor: 1000, unit: "m^3"),
        0x4C: BTHomeFormat(object: "gas", bytes: 4, divisor: 1000, unit: "m^3"),
        0x4D: BTHomeFormat(object: "energy", bytes: 4, divisor: 1000, unit: "kWh"),
        0x4E: BTHomeFormat(object: "volume", bytes: 4, divisor: 1000, unit: "L"),
        0x4F: BTHomeFormat(object: "water", bytes: 4, divisor: 1000, unit: "L"),
        0x50: BTHomeFormat(object: "timestamp", bytes: 4, unit: "s"),
        0x51: BTHomeFormat(object: "acceleration", bytes: 2, divisor: 1000, unit: "m/s^2"),
        0x52: BTHomeFormat(object: "gyroscope", bytes: 2, divisor: 1000, unit: "deg/s"),
        0x62: BTHomeFormat(object: "speed", bytes: 4, isSigned: true, divisor: 1_000_000, unit: "m/s"),
        0x63: BTHomeFormat(object: "acceleration", bytes: 4, isSigned: true, divisor: 1_000_000, unit: "m/s^2"),
    ]

    /// What is 1 or 0.
    private static let flags: [UInt8: String] = [
        0x0F: "flag", 0x10: "is_powered", 0x11: "is_open", 0x15: "battery_is_low", 0x16: "battery_is_charging",
        0x17: "carbon_monoxide", 0x18: "cold", 0x19: "connectivity", 0x1A: "door", 0x1B: "garage_door",
        0x1C: "gas_is_detected", 0x1D: "heat", 0x1E: "light_is_detected", 0x1F: "lock", 0x20: "is_wet", 0x21: "motion",
        0x22: "moving", 0x23: "occupancy", 0x24: "plug", 0x25: "presence", 0x26: "problem", 0x27: "running",
        0x28: "safety", 0x29: "smoke", 0x2A: "sound", 0x2B: "tamper", 0x2C: "vibration", 0x2D: "window",
    ]
}
