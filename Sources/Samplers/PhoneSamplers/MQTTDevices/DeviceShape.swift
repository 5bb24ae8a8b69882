internal import Samples

/// What the messages of devices on a local broker look like.
public struct DeviceShape: Sendable, Hashable {
    /// Firmware whose topics and payloads are known by name.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        /// Zigbee2MQTT: `zigbee2mqtt/NAME` with a flat object.
        case zigbee2mqtt
        /// Tasmota: `tele/NAME/SENSOR`, `stat/NAME/POWER`.
        case tasmota
        /// ESPHome: `NAME/sensor/PART/state` with a bare value.
        case esphome

        /// The topics where its devices speak unless they were told otherwise.
        public var topics: String {
            switch self {
            case .zigbee2mqtt: "zigbee2mqtt/#"
            case .tasmota: "+/+/+"
            case .esphome: "+/+/+/state"
            }
        }
    }

    /// The firmware; nil for any device.
    public var preset: Preset?
    /// What of a JSON payload becomes what.
    public var mapping: JSONMapping

    /// Makes a shape.
    public init(_ preset: Preset? = nil, mapping: JSONMapping = JSONMapping()) {
        self.preset = preset
        self.mapping = mapping
    }

    /// Whether messages on `topic` are for devices, and no readings.
    public func ignores(_ topic: String) -> Bool { place(of: topic) == nil }

    /// What of the topic names the stream; nil when its messages are no readings.
    func place(of topic: String) -> [String]? {
        let levels = topic.split(separator: "/").map(String.init)
        switch preset {
        case nil:
            return levels
        case .zigbee2mqtt:
            guard levels.count > 1, levels[1] != "bridge",
                !["set", "get", "availability"].contains(levels[levels.count - 1])
            else { return nil }
            return levels
        case .tasmota:
            guard levels.count > 2, ["tele", "stat"].contains(levels[0]), !["LWT", "RESULT"].contains(levels[2]),
                !levels[2].hasPrefix("INFO"), !levels[2].hasPrefix("STATUS")
            else { return nil }
            return ["tasmota", levels[1]] + (levels[2] == "SENSOR" ? [] : [levels[2]])
        case .esphome:
            guard levels.count > 3, levels[levels.count - 1] == "state" else { return nil }
            return ["esphome"] + levels[..<(levels.count - 3)] + [levels[levels.count - 2]]
        }
    }

    /// Units of the members that these firmwares use, by the names of their fields.
    static let units: [String: Unit] = {
        var units: [String: Unit] = [:]
        func add(_ unit: Unit, _ names: String...) { for name in names { units[name] = unit } }
        add(.degreesCelsius, "temperature", "device_temperature", "local_temperature", "dew_point")
        add(.percent, "humidity", "battery", "soil_moisture", "battery_low_level")
        add(.hectopascals, "pressure", "sea_pressure")
        add(.lux, "illuminance", "illuminance_lux")
        add(.watts, "power")
        add(Unit(rawValue: "VA"), "apparent_power")
        add(Unit(rawValue: "kWh"), "energy", "total", "today", "yesterday")
        add(.amperes, "current")
        return units
    }()
}
