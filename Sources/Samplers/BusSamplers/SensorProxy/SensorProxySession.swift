internal import Diagnostics
internal import Samples
internal import SystemBus

/// One connection to the bus: claims sensors, and turns their changes into samples until the connection ends.
actor SensorProxySession {
    private let sensors: [ProxySensor]
    private let bus: BusConnection
    private let sink: any SampleSink
    private let time: any TimeSource
    private var properties: [ProxySensor: [String: BusValue]] = [:]
    private var conditions: [ProxySensor: SourceCondition] = [:]
    private var owner = ""

    init(_ sensors: [ProxySensor], _ bus: BusConnection, _ sink: any SampleSink, _ time: any TimeSource) {
        self.sensors = sensors
        self.bus = bus
        self.sink = sink
        self.time = time
    }

    func run() async throws {
        let owners = try await bus.signals(
            BusMatch(
                sender: BlueZNames.dbus,
                interface: BlueZNames.dbus,
                member: "NameOwnerChanged",
                argument0: ProxySensor.service
            )
        )
        // Of the objects, whoever sends: the service may not be there yet. Who sent it is checked.
        let changes = try await bus.signals(
            BusMatch(
                pathNamespace: "/net/hadess/SensorProxy",
                interface: BlueZNames.properties,
                member: "PropertiesChanged"
            )
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.start()
                for await signal in owners { await self.ownerChanged(signal) }
            }
            group.addTask {
                for await signal in changes { await self.changed(signal) }
            }
            // The first that ends is the connection, or the cancellation.
            defer { group.cancelAll() }
            try await group.next()
        }
        throw BusError.closed
    }

    /// Claims every sensor; the call starts the service where systemd knows it.
    private func start() async {
        for sensor in sensors {
            do throws(BusError) {
                properties[sensor] = try await Self.look(sensor, bus, claims: true)
                emit(sensor)
            } catch {
                report(Self.condition(error), sensor)
            }
        }
        let answer = try? await bus.call(
            BlueZNames.dbus,
            "/org/freedesktop/DBus",
            BlueZNames.dbus,
            "GetNameOwner",
            [.string(ProxySensor.service)]
        )
        owner = answer?.first?.string ?? ""
    }

    private func ownerChanged(_ signal: BusSignal) async {
        let isThere = signal.arguments.last?.string?.isEmpty == false
        guard signal.arguments.last?.string != owner else { return }
        guard isThere else {
            owner = ""
            for sensor in sensors { report(.missing(Self.notRunning), sensor) }
            return
        }
        await start()
    }

    private func changed(_ signal: BusSignal) async {
        guard signal.sender == owner, let interface = signal.arguments.first?.string, signal.arguments.count == 3,
            let changes = signal.arguments[1].named
        else { return }
        for sensor in sensors where sensor.interface == interface && sensor.path == signal.path {
            let wasThere = properties[sensor]?[sensor.presence]?.bool == true
            properties[sensor, default: [:]].merge(changes) { _, new in new }
            let isThere = properties[sensor]?[sensor.presence]?.bool == true
            if isThere, !wasThere {
                // A sensor that came back must be claimed again.
                _ = try? await bus.call(ProxySensor.service, sensor.path, sensor.interface, sensor.claim)
            }
            if changes[sensor.value] != nil || isThere != wasThere { emit(sensor) }
        }
    }

    private func emit(_ sensor: ProxySensor) {
        let properties = properties[sensor] ?? [:]
        report(Self.condition(sensor, properties), sensor)
        guard properties[sensor.presence]?.bool == true, let values = sensor.sample(properties) else { return }
        sink.receive(SampleBatch(sensor.stream, arrival: time.boot(), time: time.wall(), values))
    }

    private func report(_ condition: SourceCondition, _ sensor: ProxySensor) {
        guard conditions[sensor] != condition else { return }
        conditions[sensor] = condition
        sink.report(condition, of: sensor.stream.name)
    }

    /// The properties of a sensor's interface, after it was claimed if it is there.
    static func look(
        _ sensor: ProxySensor,
        _ bus: BusConnection,
        claims: Bool
    ) async throws(BusError) -> [String: BusValue] {
        if claims { try await bus.call(ProxySensor.service, sensor.path, sensor.interface, sensor.claim) }
        let answer = try await bus.call(
            ProxySensor.service,
            sensor.path,
            BlueZNames.properties,
            "GetAll",
            [.string(sensor.interface)]
        )
        return answer.first?.named ?? [:]
    }

    static let noBus = "cannot connect to the system bus. Check that dbus is installed and runs"
    static let notRunning = "iio-sensor-proxy does not run. Install it: apt-get install iio-sensor-proxy"

    static func condition(_ sensor: ProxySensor, _ properties: [String: BusValue]) -> SourceCondition {
        guard properties[sensor.presence]?.bool == true else { return .missing("this machine has no such sensor") }
        if sensor == .light, properties["LightLevelUnit"]?.string == "vendor" {
            return .error("the light sensor's driver knows no lux")
        }
        return sensor.sample(properties) == nil ? .silent : .ok
    }

    static func condition(_ error: BusError) -> SourceCondition {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            .missing(notRunning)
        case "org.freedesktop.DBus.Error.AccessDenied":
            .noPermission(
                "iio-sensor-proxy does not let us in; for the compass, allow it in /etc/dbus-1/system.d, as for geoclue"
            )
        default: .error("\(error)")
        }
    }
}
