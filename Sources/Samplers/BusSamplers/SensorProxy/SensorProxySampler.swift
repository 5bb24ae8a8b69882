public import Diagnostics
public import Samples
internal import SystemBus

// Hardware: what the service iio-sensor-proxy reads on tablets, laptops and phones: orientation, ambient light (lx),
// proximity, compass (degrees clockwise from magnetic north). It tells changes, at most a few a second.
// What goes wrong: values stand still until a sensor is claimed; sensors appear and vanish; the service restarts; the
// compass is given to geoclue only unless the D-Bus policy is changed; some light drivers know no lux.

/// Orientation, light, proximity and compass of iio-sensor-proxy, over the system bus.
public final class SensorProxySampler: Sampler {
    /// `sensor-proxy`.
    public let kind = "sensor-proxy"

    /// Every stream that was asked for.
    public var streams: [Stream] { sensors.map(\.stream) }

    private let sensors: [ProxySensor]
    private let address: String?
    private let time: any TimeSource

    /// What can be asked for.
    public static let sensorNames = ProxySensor.allCases.map(\.rawValue)

    /// Makes the sampler; nothing is connected.
    ///
    /// - Parameters:
    ///   - names: of `sensorNames`; others are passed over.
    ///   - address: the address of the bus; nil: the system bus.
    public init(
        _ names: [String] = SensorProxySampler.sensorNames,
        bus address: String? = nil,
        time: any TimeSource = SystemTime()
    ) {
        sensors = ProxySensor.allCases.filter { names.contains($0.rawValue) }
        self.address = address
        self.time = time
    }

    /// Follows the service until the task is cancelled, whatever goes and comes back.
    public func run(into sink: any SampleSink) async throws {
        var pause = Duration.seconds(2)
        while true {
            try Task.checkCancellation()
            let began = time.boot()
            do {
                let connection = try await BusConnection.connect(address)
                // Leaving the bus releases what was claimed.
                defer { connection.close() }
                try await SensorProxySession(sensors, connection, sink, time).run()
            } catch let error as BusError {
                for sensor in sensors { sink.report(.missing("\(error)"), of: sensor.stream.name) }
            }
            try Task.checkCancellation()
            pause = began.duration(to: time.boot()) > .seconds(60) ? .seconds(2) : min(pause * 2, .seconds(60))
            try await time.sleep(for: pause)
        }
    }

    /// Claims each sensor for as long as one look takes.
    public func readings() async -> [SensorReading] {
        var readings: [SensorReading] = []
        let connection = try? await BusConnection.connect(address)
        defer { connection?.close() }
        for sensor in sensors {
            let nothing = sensor.stream.fields.map { _ in Value.missing }
            var reading = SensorReading(
                stream: sensor.stream,
                values: nothing,
                condition: .missing(SensorProxySession.noBus)
            )
            if let connection {
                do throws(BusError) {
                    let properties = try await SensorProxySession.look(sensor, connection, claims: true)
                    reading = SensorReading(
                        stream: sensor.stream,
                        values: sensor.sample(properties) ?? nothing,
                        condition: SensorProxySession.condition(sensor, properties)
                    )
                } catch {
                    reading = SensorReading(
                        stream: sensor.stream,
                        values: nothing,
                        condition: SensorProxySession.condition(error)
                    )
                }
            }
            readings.append(reading)
        }
        return readings
    }
}
