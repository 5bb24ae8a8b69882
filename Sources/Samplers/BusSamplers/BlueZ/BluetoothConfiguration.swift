public import Samples

/// What is looked for over Bluetooth.
public struct BluetoothConfiguration: Sendable, Hashable {
    /// Which heart-rate strap.
    public enum Strap: Sendable, Hashable {
        /// None.
        case none
        /// The first that is found.
        case any
        /// The one with this address, in upper case.
        case address(String)
    }

    /// An iBeacon; what is nil matches all.
    public struct Beacon: Sendable, Hashable {
        /// The UUID in lower case.
        public var uuid: String?
        /// The first number.
        public var major: Int?
        /// The second number.
        public var minor: Int?

        /// Matches every beacon until something is set.
        public init(uuid: String? = nil, major: Int? = nil, minor: Int? = nil) {
            self.uuid = uuid
            self.major = major
            self.minor = minor
        }

        func matches(_ beacon: IBeaconAdvertisement) -> Bool {
            (uuid == nil || uuid == beacon.uuid) && (major == nil || major == beacon.major)
                && (minor == nil || minor == beacon.minor)
        }
    }

    /// The adapter, such as `hci0`; nil: the first one.
    public var adapter: String?
    /// The heart-rate strap.
    public var strap = Strap.none
    /// The beacons; empty: none are looked for.
    public var beacons: [Beacon] = []
    /// The suffix of the streams of each BTHome sensor, by its address in upper case.
    public var thermometers: [String: Name] = [:]

    /// Looks for nothing until something is set.
    public init() {}

    /// Every stream that may come.
    public var streams: [Stream] {
        var streams: [Stream] = []
        if strap != .none {
            streams.append(BluetoothStreams.heartRate)
            streams.append(BluetoothStreams.strapBattery)
        }
        if !beacons.isEmpty { streams.append(BluetoothStreams.beacon) }
        for name in thermometers.values.sorted() {
            streams += BluetoothStreams.thermometer.map { BluetoothStreams.stream($0.stream, of: name) }
        }
        return streams
    }
}

/// The streams of Bluetooth devices.
enum BluetoothStreams {
    private static func stream(_ name: String, _ fields: [Field]) -> Stream {
        Stream(Name(mapping: name), fields: fields)
    }

    static let heartRate = stream(
        "heart_rate",
        [Field(Name(mapping: "bpm"), unit: .beatsPerMinute), Field(Name(mapping: "rr"), unit: .seconds)]
    )
    static let strapBattery = stream("heart_rate.battery", [Field(Name(mapping: "percent"), unit: .percent)])
    static let beacon = stream(
        "beacon",
        [
            Field(Name(mapping: "uuid"), kind: .text), Field(Name(mapping: "major"), kind: .integer),
            Field(Name(mapping: "minor"), kind: .integer),
            Field(Name(mapping: "rssi"), unit: Unit(rawValue: "dBm")),
            Field(Name(mapping: "power"), unit: Unit(rawValue: "dBm")),
        ]
    )
    /// What is taken from a BTHome sensor, and the stream it becomes.
    static let thermometer: [(object: String, stream: String, unit: Unit)] = [
        ("temperature", "temperature", .degreesCelsius), ("humidity", "humidity", .percent),
        ("pressure", "pressure", .hectopascals), ("illuminance", "light", .lux), ("battery", "battery", .percent),
    ]

    static func stream(_ kind: String, of sensor: Name) -> Stream {
        let unit = thermometer.first { $0.stream == kind }?.unit ?? .none
        return stream("\(kind).\(sensor)", [Field(Name(mapping: "value"), unit: unit)])
    }
}
