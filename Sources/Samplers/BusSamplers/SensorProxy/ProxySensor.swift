internal import Samples
internal import SystemBus

/// What iio-sensor-proxy can tell, with the names that it uses on the bus (iio-sensor-proxy 3, net.hadess.SensorProxy.xml).
enum ProxySensor: String, Sendable, CaseIterable {
    case orientation
    case light
    case proximity
    case compass

    static let service = "net.hadess.SensorProxy"

    var path: String { self == .compass ? "/net/hadess/SensorProxy/Compass" : "/net/hadess/SensorProxy" }

    var interface: String { self == .compass ? "net.hadess.SensorProxy.Compass" : "net.hadess.SensorProxy" }

    /// Whether there is such a sensor: it may come and go.
    var presence: String {
        switch self {
        case .orientation: "HasAccelerometer"
        case .light: "HasAmbientLight"
        case .proximity: "HasProximity"
        case .compass: "HasCompass"
        }
    }

    /// What is asked for before values move.
    var claim: String {
        switch self {
        case .orientation: "ClaimAccelerometer"
        case .light: "ClaimLight"
        case .proximity: "ClaimProximity"
        case .compass: "ClaimCompass"
        }
    }

    /// The property that holds the value.
    var value: String {
        switch self {
        case .orientation: "AccelerometerOrientation"
        case .light: "LightLevel"
        case .proximity: "ProximityNear"
        case .compass: "CompassHeading"
        }
    }

    var stream: Stream {
        switch self {
        case .orientation: Self.stream("orientation", Field(Name(mapping: "face"), kind: .text))
        case .light: Self.stream("light", Field(Name(mapping: "value"), unit: .lux))
        case .proximity: Self.stream("proximity", Field(Name(mapping: "near"), kind: .flag))
        case .compass:
            Self.stream(
                "heading",
                Field(Name(mapping: "degrees"), unit: .degrees),
                Field(Name(mapping: "accuracy"), unit: .degrees)
            )
        }
    }

    private static func stream(_ name: String, _ fields: Field...) -> Stream {
        Stream(Name(mapping: name), fields: fields)
    }

    /// The sample that the properties of the interface hold; nil when the value is not known.
    func sample(_ properties: [String: BusValue]) -> [Value]? {
        switch self {
        case .orientation: properties[value]?.string.flatMap(Self.face).map { [.text($0)] }
        case .light:
            // Some drivers give per cent of they know not what: no lux.
            properties["LightLevelUnit"]?.string == "vendor"
                ? nil : properties[value]?.number.flatMap { $0 >= 0 ? [Value($0)] : nil }
        case .proximity: properties[value]?.bool.map { [.flag($0)] }
        case .compass: properties[value]?.number.flatMap { $0 >= 0 ? [Value($0), .missing] : nil }
        }
    }

    /// The side that points up, in the words of the stream `orientation`.
    private static func face(_ word: String) -> String? {
        switch word {
        case "normal": "portrait"
        case "bottom-up": "portrait_upside_down"
        case "right-up": "landscape_left"
        case "left-up": "landscape_right"
        default: nil
        }
    }
}
