internal import Diagnostics
internal import Samples
internal import SystemBus

/// One connection to the bus: from what bluetoothd shows to samples, until the connection ends.
actor BluetoothSession {
    private let configuration: BluetoothConfiguration
    private let bus: BusConnection
    private let sink: any SampleSink
    private let time: any TimeSource
    private var objects = BlueZObjects()
    private var decoder: AdvertisementDecoder
    /// The unique name of the bluetoothd whose signals count.
    private var owner = ""
    private var isScanning = false
    private var lastAdvertisement: BootInstant
    private var restarts = 0
    private var strap = StrapState()
    private var conditions: [Name: SourceCondition] = [:]

    /// With no advertisement for so long a scan is made anew: bluetoothd and controllers forget it after hours.
    private static let silence = Duration.seconds(60)

    /// What is known of the strap.
    private struct StrapState {
        var isBusy = false
        var characteristic: String?
        var device: String?
        var failures = 0
        var nextTry: BootInstant?
    }

    init(
        _ configuration: BluetoothConfiguration,
        _ bus: BusConnection,
        _ sink: any SampleSink,
        _ time: any TimeSource
    ) {
        self.configuration = configuration
        self.bus = bus
        self.sink = sink
        self.time = time
        decoder = AdvertisementDecoder(configuration)
        lastAdvertisement = time.boot()
    }

    func run() async throws {
        let owners = try await bus.signals(
            BusMatch(
                sender: BlueZNames.dbus,
                interface: BlueZNames.dbus,
                member: "NameOwnerChanged",
                argument0: BlueZNames.service
            )
        )
        // By path and not by sender: the daemon that is to start has no name yet. Who sent a signal is checked.
        let changes = try await bus.signals(
            BusMatch(
                pathNamespace: BlueZNames.root,
                interface: BlueZNames.properties,
                member: "PropertiesChanged"
            ),
            buffer: 4096
        )
        let objectSignals = try await bus.signals(
            BusMatch(path: "/", interface: BlueZNames.objectManager),
            buffer: 1024
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await self.begin()
                for await signal in owners { try await self.ownerChanged(signal) }
            }
            group.addTask {
                for await signal in changes { await self.changed(signal) }
            }
            group.addTask {
                for await signal in objectSignals { await self.objectsChanged(signal) }
            }
            group.addTask {
                while true {
                    try await self.time.sleep(for: .seconds(1))
                    await self.tick()
                }
            }
            // The first that ends is the connection, or the cancellation.
            defer { group.cancelAll() }
            try await group.next()
        }
        throw BusError.closed
    }

    // MARK: bluetoothd

    private func begin() async throws(BusError) {
        do throws(BusError) {
            let answer = try await bus.call(
                BlueZNames.dbus,
                "/org/freedesktop/DBus",
                BlueZNames.dbus,
                "GetNameOwner",
                [.string(BlueZNames.service)]
            )
            owner = answer.first?.string ?? ""
        } catch {
            guard error.name != nil else { throw error }
            reportAll(.missing(Self.text(error)))
            return
        }
        await takeObjects()
    }

    private func ownerChanged(_ signal: BusSignal) async throws(BusError) {
        objects = BlueZObjects()
        owner = signal.arguments.last?.string ?? ""
        isScanning = false
        strap = StrapState()
        guard !owner.isEmpty else {
            reportAll(.missing(Self.notRunning))
            return
        }
        await takeObjects()
    }

    private func takeObjects() async {
        do throws(BusError) {
            let answer = try await bus.call(BlueZNames.service, "/", BlueZNames.objectManager, "GetManagedObjects")
            objects = BlueZObjects(answer.first)
            // What is known already is not announced again.
            for path in objects.paths(BlueZNames.device) { sighted(path) }
            await tick()
        } catch {
            reportAll(.missing(Self.text(error)))
        }
    }

    private func objectsChanged(_ signal: BusSignal) async {
        guard signal.sender == owner else { return }
        switch signal.member {
        case "InterfacesAdded":
            guard let path = objects.added(signal.arguments) else { return }
            sighted(path)
        case "InterfacesRemoved": objects.removed(signal.arguments)
        default: break
        }
    }

    private func changed(_ signal: BusSignal) async {
        guard signal.sender == owner, let (interface, changes) = objects.changed(signal.path, signal.arguments) else {
            return
        }
        switch interface {
        case BlueZNames.characteristic:
            if signal.path == strap.characteristic, let bytes = changes["Value"]?.bytes { measured(bytes) }
        case BlueZNames.device:
            if changes["RSSI"] != nil || changes["ManufacturerData"] != nil || changes["ServiceData"] != nil {
                sighted(signal.path)
            }
            if signal.path == strap.device, changes["Connected"]?.bool == false { lost() }
            if signal.path == strap.device, changes["ServicesResolved"]?.bool == true { await tick() }
        case BlueZNames.battery:
            if signal.path == strap.device { battery(changes) }
        case BlueZNames.adapter:
            if changes["Powered"] != nil || changes["Discovering"] != nil {
                if changes["Discovering"]?.bool == false { isScanning = false }
                await tick()
            }
        default: break
        }
    }

    // MARK: What is to be done

    /// Sees to it that what is wanted is under way.
    private func tick() async {
        guard !owner.isEmpty else { return }
        guard let adapter = objects.adapter(configuration.adapter) else {
            reportAll(.missing(Self.noAdapter(configuration.adapter)))
            return
        }
        guard objects.properties(adapter, BlueZNames.adapter)?["Powered"]?.bool == true else {
            isScanning = false
            reportAll(.missing(Self.unpowered))
            return
        }
        followStrap()
        let wantsAdvertisements = !configuration.beacons.isEmpty || !configuration.thermometers.isEmpty
        let wantsStrap = configuration.strap != .none && strap.characteristic == nil
        guard wantsAdvertisements || wantsStrap else { return }
        if isScanning, wantsAdvertisements, lastAdvertisement.duration(to: time.boot()) > Self.silence {
            isScanning = false
            lastAdvertisement = time.boot()
            restarts += 1
            reportAdvertisers(.silent)
            _ = try? await bus.call(BlueZNames.service, adapter, BlueZNames.adapter, "StopDiscovery")
        }
        if !isScanning { await scan(adapter, onlyStraps: !wantsAdvertisements) }
    }

    private func scan(_ adapter: String, onlyStraps: Bool) async {
        isScanning = true
        // Without DuplicateData an unchanged advertisement is not signalled again.
        var filter: [String: BusValue] = ["Transport": .string("le"), "DuplicateData": .bool(true)]
        if onlyStraps { filter["UUIDs"] = .array([.string(BlueZNames.heartRate)], element: "s") }
        do throws(BusError) {
            try await bus.call(
                BlueZNames.service,
                adapter,
                BlueZNames.adapter,
                "SetDiscoveryFilter",
                [.properties(filter)]
            )
            try await bus.call(BlueZNames.service, adapter, BlueZNames.adapter, "StartDiscovery")
        } catch {
            // Somebody scans already: then so do we.
            guard error.name != "org.bluez.Error.InProgress" else { return }
            isScanning = false
            reportAdvertisers(.error("scanning cannot be started: \(error)"))
        }
    }

    // MARK: Advertisements

    private func sighted(_ path: String) {
        guard let device = objects.properties(path, BlueZNames.device) else { return }
        let sighting = decoder.sighting(device, now: time.boot())
        guard sighting.isAdvertisement else { return }
        lastAdvertisement = time.boot()
        for (stream, values) in sighting.samples {
            report(.ok, of: stream.name)
            sink.receive(SampleBatch(stream, arrival: time.boot(), time: time.wall(), values))
        }
        if let problem = sighting.problem { sink.reject(1, of: problem.stream, example: problem.example) }
    }

    // MARK: The strap

    private func followStrap() {
        guard configuration.strap != .none, !strap.isBusy, strap.characteristic == nil else { return }
        if let nextTry = strap.nextTry, time.boot() < nextTry { return }
        var address: String?
        if case .address(let text) = configuration.strap { address = text }
        guard let device = objects.strap(address: address) else {
            report(.missing("no heart-rate strap is in range"), of: BluetoothStreams.heartRate.name)
            return
        }
        strap.isBusy = true
        strap.device = device
        // Beside the signals: connecting takes up to a minute, and they go on meanwhile.
        Task { await self.connect(device) }
    }

    private func connect(_ device: String) async {
        defer { strap.isBusy = false }
        do throws(BusError) {
            try await makeConnection(device)
            guard let characteristic = objects.characteristic(BlueZNames.heartRateMeasurement, of: device) else {
                // Until the services have been looked up: the next tick comes back here.
                let isResolved = objects.properties(device, BlueZNames.device)?["ServicesResolved"]?.bool == true
                report(
                    isResolved ? .error("the device has no heart-rate measurement") : .silent,
                    of: BluetoothStreams.heartRate.name
                )
                return
            }
            try await bus.call(BlueZNames.service, characteristic, BlueZNames.characteristic, "StartNotify")
            strap.characteristic = characteristic
            strap.failures = 0
            if let properties = objects.properties(device, BlueZNames.battery) { battery(properties) }
        } catch {
            lost("the strap does not answer: \(error)")
        }
    }

    private func makeConnection(_ device: String) async throws(BusError) {
        guard objects.properties(device, BlueZNames.device)?["Connected"]?.bool != true else { return }
        do throws(BusError) {
            try await bus.call(BlueZNames.service, device, BlueZNames.device, "Connect", timeout: .seconds(40))
        } catch {
            guard error.name == "org.bluez.Error.AlreadyConnected" else { throw error }
        }
    }

    private func lost(_ reason: String = "the strap has gone out of range") {
        strap.characteristic = nil
        strap.failures += 1
        let pause = min(Duration.seconds(2) * Int(1 << min(strap.failures, 5)), .seconds(60))
        strap.nextTry = time.boot().advanced(by: pause)
        report(.missing(reason), of: BluetoothStreams.heartRate.name)
    }

    private func measured(_ bytes: [UInt8]) {
        let stream = BluetoothStreams.heartRate
        guard let measurement = HeartRateMeasurement(bytes) else {
            sink.reject(1, of: stream.name, example: "a heart-rate measurement of \(bytes.count) bytes")
            return
        }
        guard let rate = measurement.beatsPerMinute else {
            report(.silent, of: stream.name)
            return
        }
        report(.ok, of: stream.name)
        var batch = SampleBatch(stream, arrival: time.boot())
        let now = time.wall()
        if measurement.intervals.isEmpty { batch.append(time: now, [.real(Double(rate)), .missing]) }
        // The oldest comes first; each beat was as long ago as the intervals after it.
        var before = measurement.intervals.dropFirst().reduce(0, +)
        for (place, interval) in measurement.intervals.enumerated() {
            batch.append(time: now - .seconds(before), [.real(Double(rate)), .real(interval)])
            if place + 1 < measurement.intervals.count { before -= measurement.intervals[place + 1] }
        }
        sink.receive(batch)
    }

    private func battery(_ properties: [String: BusValue]) {
        guard let percent = properties["Percentage"]?.int else { return }
        let stream = BluetoothStreams.strapBattery
        report(.ok, of: stream.name)
        sink.receive(SampleBatch(stream, arrival: time.boot(), time: time.wall(), [.real(Double(percent))]))
    }

    // MARK: Conditions

    private func report(_ condition: SourceCondition, of stream: Name) {
        guard conditions[stream] != condition else { return }
        conditions[stream] = condition
        sink.report(condition, of: stream)
    }

    private func reportAll(_ condition: SourceCondition) {
        for stream in configuration.streams { report(condition, of: stream.name) }
    }

    private func reportAdvertisers(_ condition: SourceCondition) {
        let strap = [BluetoothStreams.heartRate.name, BluetoothStreams.strapBattery.name]
        for stream in configuration.streams where !strap.contains(stream.name) { report(condition, of: stream.name) }
    }

    static let unpowered = "the Bluetooth adapter is off. Switch it on: bluetoothctl power on"
    static let notRunning = "bluetoothd does not run. Start it: systemctl start bluetooth"

    static func noAdapter(_ name: String?) -> String {
        name.map { "there is no Bluetooth adapter \($0)" } ?? "there is no Bluetooth adapter"
    }

    /// What a failed call means to a person.
    static func text(_ error: any Error) -> String {
        switch (error as? BusError)?.name {
        case "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown": notRunning
        case "org.freedesktop.DBus.Error.AccessDenied":
            "bluetoothd does not let us in. Put the user into the group bluetooth"
        default: "\(error)"
        }
    }
}
