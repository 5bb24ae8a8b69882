internal import Samples

/// Where a field's value stands in an app's message, and what has to be done with it.
struct SensorSource: Sendable {
    enum Rule: Sendable {
        case number
        case positive
        case count
        case word
        case confidence
    }

    let key: [UInt8]
    var factor = 1.0
    var offset = 0.0
    var rule = Rule.number
}

/// One of the streams that a sensor of the app becomes: a source for each field, in their order; nil for none.
struct SensorShape: Sendable {
    let stream: Samples.Stream
    let sources: [SensorSource?]
}

/// A sensor of Sensor Logger and what becomes of it.
struct SensorLoggerSensor: Sendable {
    let shapes: [SensorShape]
    /// Every source with the place of its field in the row of all shapes' fields.
    let sources: [(source: SensorSource, field: Int)]
    let width: Int

    init(_ shapes: [SensorShape]) {
        self.shapes = shapes
        var sources: [(source: SensorSource, field: Int)] = []
        var width = 0
        for shape in shapes {
            for (place, source) in shape.sources.enumerated() {
                if let source { sources.append((source, width + place)) }
            }
            width += shape.stream.fields.count
        }
        self.sources = sources
        self.width = width
    }
}

/// The sensors that the app is known to have, for devices of one profile.
///
/// Names are compared without case, spaces and signs: `WristMotion` is `wrist motion`. Frame: x right, y to the top of the
/// screen, z out of it; at rest, face up, +1 g on z. Units: `KnownStreams`.
struct SensorLoggerSensors: Sendable {
    static let gravity = 9.80665
    let sensors: [String: SensorLoggerSensor]
    let acceleration: Samples.Stream
    let userAcceleration: Samples.Stream
    let gravityStream: Samples.Stream

    init(_ profile: SensorLoggerProfile, naming: StreamNaming) {
        let sign = profile.isNegated ? -1.0 : 1.0
        let inG = sign * (profile.isAppleUnits ? SensorLoggerSensors.gravity : 1)
        var sensors: [String: SensorLoggerSensor] = [:]
        func shape(_ stream: String, suffix: String? = nil, _ sources: [SensorSource?]) -> SensorShape {
            let known = naming.known(stream)
            guard let suffix else { return SensorShape(stream: known, sources: sources) }
            let name = naming.name("\(stream).\(suffix)")
            return SensorShape(stream: Samples.Stream(name, fields: known.fields), sources: sources)
        }
        func source(_ key: String, _ factor: Double = 1, _ rule: SensorSource.Rule = .number) -> SensorSource {
            SensorSource(key: Array(key.utf8), factor: factor, rule: rule)
        }
        func axes(_ prefix: String = "", _ factor: Double = 1) -> [SensorSource?] {
            ["x", "y", "z"].map { source(prefix.isEmpty ? $0 : prefix + $0.uppercased(), factor) }
        }
        func attitude(_ keys: [String]) -> [SensorSource?] {
            let quaternion = keys.map { profile.isAppleUnits ? nil : source($0) }
            // Android: azimuth clockwise of the y axis from north, pitch against the right hand. Here: counter-clockwise
            // from east of the x axis, which is the same zero; an iPhone's zero is the x axis in the north.
            let turn = profile.isAppleUnits ? 1.0 : -1.0
            var yaw = source("yaw", turn)
            yaw.offset = profile.isAppleUnits ? .pi / 2 : 0
            return quaternion + [source("roll"), source("pitch", turn), yaw]
        }
        func position(_ altitude: String, _ course: String) -> [SensorSource?] {
            [
                source("latitude"), source("longitude"), source(altitude), source("horizontalAccuracy", 1, .positive),
                source("speed", 1, .positive), source(course, 1, .positive),
            ]
        }
        func add(_ name: String, _ shapes: SensorShape...) { sensors[name] = SensorLoggerSensor(shapes) }

        add("accelerometer", shape("user_acceleration", axes("", sign)))
        add("totalacceleration", shape("accelerometer", axes("", sign)))
        add("accelerometeruncalibrated", shape("accelerometer", suffix: "uncalibrated", axes("", inG)))
        add("gravity", shape("gravity", axes("", sign)))
        add("gyroscope", shape("gyroscope", axes()))
        add("gyroscopeuncalibrated", shape("gyroscope", suffix: "uncalibrated", axes()))
        add("magnetometer", shape("magnetometer", axes()))
        add("magnetometeruncalibrated", shape("magnetometer", suffix: "uncalibrated", axes()))
        add("watchmagnetometer", shape("magnetometer", suffix: "watch", axes()))
        add("orientation", shape("attitude", attitude(["qw", "qx", "qy", "qz"])))
        add("barometer", shape("pressure", [source("pressure")]), shape("altitude", [source("relativeAltitude")]))
        add(
            "watchbarometer",
            shape("pressure", suffix: "watch", [source("pressure", profile.isAppleUnits ? 10 : 1)]),
            shape("altitude", suffix: "watch", [source("relativeAltitude")])
        )
        add("location", shape("location", position("altitude", "bearing")))
        // The watch calls the height above the ellipsoid, which is the phone's `altitude`, by another name.
        add("watchlocation", shape("location", suffix: "watch", position("ellipsoidalAltitude", "course")))
        add("pedometer", shape("steps", [source("steps", 1, .count), nil, nil, nil]))
        add("watchpedometer", shape("steps", suffix: "watch", [source("steps", 1, .count), nil, nil, nil]))
        add("brightness", shape("screen", [source("brightness")]))
        add("light", shape("light", [source("lux")]))
        add("battery", shape("battery", [source("batteryLevel", 100, .positive), source("batteryState", 1, .word)]))
        add("batterytemp", shape("temperature", suffix: "battery", [source("temperature")]))
        add("heartrate", shape("heart_rate", [source("bpm", 1, .positive), nil]))
        add("compass", shape("heading", [source("magneticBearing", 1, .positive), nil]))
        add("watchcompass", shape("heading", suffix: "watch", [source("magneticBearing", 1, .positive), nil]))
        add("activity", shape("activity", [source("activity", 1, .word), source("confidence", 1, .confidence)]))
        for (name, suffix, gravityFactor) in [("wristmotion", "watch", inG), ("headphone", "headphones", sign)] {
            add(
                name,
                shape("user_acceleration", suffix: suffix, axes("acceleration", inG)),
                shape("gravity", suffix: suffix, axes("gravity", gravityFactor)),
                shape("rotation_rate", suffix: suffix, axes("rotationRate")),
                shape(
                    "attitude",
                    suffix: suffix,
                    attitude(["quaternionW", "quaternionX", "quaternionY", "quaternionZ"])
                )
            )
        }
        self.sensors = sensors
        acceleration = naming.known("accelerometer")
        userAcceleration = naming.known("user_acceleration")
        gravityStream = naming.known("gravity")
    }

    /// A name as it is compared: small letters and digits only.
    static func key(of name: String) -> String {
        String(
            decoding: name.utf8.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
                default: nil
                }
            },
            as: UTF8.self
        )
    }

    /// Every stream that a known sensor becomes.
    var streams: [Samples.Stream] {
        var found: [Samples.Stream] = [acceleration]
        for sensor in sensors.sorted(by: { $0.key < $1.key }) {
            for shape in sensor.value.shapes where !found.contains(where: { $0.name == shape.stream.name }) {
                found.append(shape.stream)
            }
        }
        return found
    }
}
