public import Diagnostics
public import Samples
internal import SystemBus

// Hardware: any Bluetooth LE adapter that BlueZ drives; straps with the service Heart Rate (0x180D), iBeacons, BTHome v2
// sensors. Units: 1/min and s; dBm; °C, %, hPa, lx. Rate: a strap notifies about once a second, a beacon advertises 1 to 10
// times, a thermometer every few seconds to minutes.
// What goes wrong: bluetoothd restarts, the adapter is switched off, scanning falls silent after hours, properties come in
// pieces, straps go out of range, beacons advertise powers that are none.

/// Heart-rate straps, iBeacons and BTHome sensors, through BlueZ on the system bus.
public final class BluetoothSampler: Sampler {
    /// `bluetooth`.
    public let kind = "bluetooth"

    /// Every stream that the configuration asks for.
    public let streams: [Stream]

    private let configuration: BluetoothConfiguration
    private let address: String?
    private let time: any TimeSource

    /// Makes the sampler; nothing is connected.
    ///
    /// - Parameter bus: the address of the bus; nil: the system bus.
    public init(
        _ configuration: BluetoothConfiguration,
        bus address: String? = nil,
        time: any TimeSource = SystemTime()
    ) {
        self.configuration = configuration
        self.address = address
        self.time = time
        streams = configuration.streams
    }

    /// Follows bluetoothd until the task is cancelled, whatever goes and comes back.
    public func run(into sink: any SampleSink) async throws {
        var pause = Duration.seconds(2)
        while true {
            try Task.checkCancellation()
            let began = time.boot()
            do {
                let connection = try await BusConnection.connect(address)
                defer { connection.close() }
                let session = BluetoothSession(configuration, connection, sink, time)
                try await session.run()
            } catch let error as BusError {
                for stream in streams { sink.report(.missing("\(error)"), of: stream.name) }
            }
            try Task.checkCancellation()
            pause = began.duration(to: time.boot()) > .seconds(60) ? .seconds(2) : min(pause * 2, .seconds(60))
            try await time.sleep(for: pause)
        }
    }

    /// What bluetoothd knows now: no scan is started for it.
    public func readings() async -> [SensorReading] {
        func all(_ condition: SourceCondition) -> [SensorReading] {
            streams.map { SensorReading(stream: $0, values: $0.fields.map { _ in .missing }, condition: condition) }
        }
        do {
            let connection = try await BusConnection.connect(address)
            defer { connection.close() }
            let answer = try await connection.call(
                BlueZNames.service,
                "/",
                BlueZNames.objectManager,
                "GetManagedObjects",
                timeout: .seconds(5)
            )
            let objects = BlueZObjects(answer.first)
            guard let adapter = objects.adapter(configuration.adapter) else {
                return all(.missing(BluetoothSession.noAdapter(configuration.adapter)))
            }
            guard objects.properties(adapter, BlueZNames.adapter)?["Powered"]?.bool == true else {
                return all(.missing(BluetoothSession.unpowered))
            }
            return all(.silent)
        } catch {
            return all(.missing(BluetoothSession.text(error)))
        }
    }
}
