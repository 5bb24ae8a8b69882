internal import Alerts
internal import Control
internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import HTTPServer
internal import MQTT
internal import Outbox
internal import PhoneSamplers
internal import Publisher
internal import Recorder
internal import Samples

/// The running bridge: knows every part, and only wires them.
actor BridgeService {
    nonisolated let recorder: RecorderStore
    nonisolated let control: SwitchOwner
    nonisolated let delivery: PublisherDriver

    private var configuration: Configuration
    private let directory: StateDirectory
    private let environment: [String: String]
    private let flow: DataFlow
    private let runner: SamplerRunner
    private let outbox: OutboxStore
    private let account: AccountAccess
    private let store: KeyValueStore
    private var key: Secret?
    private let time: any TimeSource
    private let log: Log
    private var keptStates: [String: [UInt8]] = [:]
    private var keptAlerts: [String] = []
    private let commands: CommandRunner
    private var checkedClock: (isRight: Bool, offset: Duration)?
    private var preparing: Task<Void, Never>?
    /// Feeds that points were sent to and that the account does not have.
    private var missingFeeds: Set<FeedKey> = []
    private var reloading: Task<Void, Never>?
    private var serviceClock: ServiceClock?
    private var clockWasRight: Bool?
    private var http: (settings: Configuration.HTTP, server: HTTPServer)?
    private let push: PushRoutes
    private var broker:
        (settings: Configuration.HomeBroker, samplers: [PushSampler], broker: LocalBroker, task: Task<Void, Never>)?

    init(
        _ configuration: Configuration,
        key: Secret?,
        directory: StateDirectory,
        environment: [String: String],
        time: any TimeSource,
        log: Log
    ) async throws {
        self.configuration = configuration
        self.directory = directory
        self.environment = environment
        self.time = time
        self.log = log
        commands = CommandRunner(log: log)

        // The outbox first: on a full disk it gives its reserve free, and the others need a little room to start.
        outbox = try await OutboxStore.open(
            folder: directory.path,
            settings: configuration.outbox,
            time: time,
            log: log
        )
        let store = try await KeyValueStore.open(folder: directory.path, time: time, log: log)
        self.store = store
        self.key = key
        var settings = RecorderStore.Settings()
        settings.host = InitCommand.bridgeName
        settings.software = "feedbridge \(FeedbridgeVersion.text)"
        recorder = try await RecorderStore.open(folder: directory.path, settings: settings, time: time, log: log)
        let rules = try RuleEngine(configuration.rules.map(\.rule), device: configuration.name, isRecording: false)
        flow = DataFlow(rules: rules, recorder: recorder, outbox: outbox, time: time, log: log)
        let states = await store.value("derivations").flatMap { StateText.value([String: [UInt8]].self, $0) }
        let derivations = try configuration.makeDerivations()
        flow.replace(derivations: derivations, written: configuration.derivations, states: states ?? [:])
        runner = SamplerRunner(flow: flow, time: time, log: log)
        let keptText = await store.value("publisher")
        var kept = keptText.flatMap { StateText.value(PublisherMemory.self, $0) }
        let wasLost = await store.wasDamaged
        if kept == nil, keptText != nil || wasLost {
            log.warning("what the account has used in the last minute is not known: nothing is sent for a minute")
            kept = .lost(at: time.boot())
        }
        push = PushRoutes(time: time, log: log)
        flow.forwards.replace(configuration.forwards)
        delivery = PublisherDriver(
            PublisherSettings(configuration),
            access: try PublisherAccess(configuration, key: key),
            outbox: outbox,
            memory: kept,
            time: time,
            log: log
        ) { memory in
            do {
                try await store.set("publisher", StateText.text(memory))
            } catch {
                log.error("cannot keep what the account has used: \(error)")
            }
        }
        account = AccountAccess(delivery: delivery, time: time, log: log)
        let memory = await store.value("switch").flatMap { StateText.value(SwitchMemory.self, $0) }
        control = SwitchOwner(
            try SwitchSetup(configuration),
            memory: memory ?? SwitchMemory(),
            recorder: recorder,
            samplers: runner,
            flow: flow,
            delivery: delivery,
            feedReader: account,
            store: store,
            time: time,
            log: log
        )
    }

    /// Takes points that another process made; returns when they are on the disk.
    func add(_ points: [DataPoint]) async throws {
        try await outbox.durably(points)
    }

    /// Runs until the task is cancelled, then ends the session, sends what waits and disconnects.
    func run(_ samplers: [(settings: Configuration.Sampler, sampler: any Sampler)]) async throws {
        let local = try HTTPServer(
            .unix(path: directory.socketPlace, mode: 0o600),
            routes: LocalRoutes(service: self).routes,
            log: log
        )
        defer { local.stop() }
        directory.linkSocket()
        do {
            try serve(configuration, samplers.map(\.sampler))
        } catch let error as ConfigurationError {
            try? await recorder.close()
            throw error
        } catch {
            try? await recorder.close()
            let problem = ConfigurationProblem(file: configuration.file, line: 0, column: 0, text: "[http] \(error)")
            throw ConfigurationError(problems: [problem])
        }
        log.info("feedbridge \(FeedbridgeVersion.text) runs as \(configuration.name); state in \(directory.path)")
        let begun = await store.value("alerts").flatMap { StateText.value([String].self, $0) }
        try watchAlerts(configuration, begun: begun ?? [])
        let derivations = try configuration.makeDerivations()
        await runner.replace(with: samplers, needed: needed(derivations, configuration))

        let recording = Task { [recorder] in try await recorder.run() }
        let keeping = Task { [outbox] in try await outbox.run() }
        if !configuration.account.isPlain { for feed in feeds { delivery.feedIsUnknown(feed) } }
        let delivering = Task { [delivery] in await delivery.run() }
        let switching = Task { [control] in await control.run() }
        startPreparing()
        let helpers = [
            Task { await followDelivery() },
            Task { await tick() },
            Task { await watchLimits() },
        ]
        // Sleeps until the program is told to stop.
        while !Task.isCancelled { try? await time.sleep(for: .seconds(3600)) }

        log.info("stopping")
        broker?.task.cancel()
        await runner.stopAll()
        control.finish()
        await switching.value
        flow.finish()
        await keepDerivations()
        preparing?.cancel()
        for helper in helpers { helper.cancel() }
        await drain()
        delivery.stop()
        await delivering.value
        recording.cancel()
        keeping.cancel()
        _ = try? await recording.value
        _ = try? await keeping.value
        do {
            try await outbox.close()
        } catch {
            log.error("the outbox could not be closed properly: \(error)")
        }
        do {
            try await recorder.close()
        } catch {
            log.error("the recordings could not be closed properly: \(error)")
        }
        await store.close()
        http?.server.stop()
        log.info("stopped")
    }

    /// Takes a changed configuration: what did not change goes on. What is wrong with it is told, and nothing changes.
    ///
    /// One after the other: a second request waits for the first, and reads the file again.
    func reload() async {
        let before = reloading
        let reloading = Task {
            await before?.value
            await readAgain()
        }
        self.reloading = reloading
        await reloading.value
    }

    private func readAgain() async {
        log.info("reading \(configuration.file) again")
        do {
            let new = try ConfigurationFile.load(configuration.file)
            guard new.account.profile == configuration.account.profile else {
                log.error("[account] profile changes only with a restart; the running configuration stays as it was")
                return
            }
            let key = try ConfigurationFile.key(for: new, environment: environment)
            let samplers = try SamplerFactory.make(new, time: time)
            let setup = try SwitchSetup(new)
            if new.name != configuration.name || new.state != configuration.state {
                log.warning("name and state change only with a restart")
            }
            let derivations = try new.makeDerivations()
            let streams = samplers.flatMap { $0.sampler.streams } + derivations.flatMap(\.outputs)
            try flow.replace(
                rules: new.rules.map(\.rule),
                streams: streams,
                othersMayCome: new.othersMayCome
            )
            flow.replace(derivations: derivations, written: new.derivations)
            try watchAlerts(new)
            await runner.replace(with: samplers, needed: needed(derivations, new))
            flow.forwards.replace(new.forwards)
            let isOther =
                key != self.key || new.account != configuration.account || new.control != configuration.control
            self.key = key
            await delivery.apply(
                PublisherSettings(new),
                access: try PublisherAccess(new, key: key),
                reconnect: isOther
            )
            if new.outbox != configuration.outbox { log.warning("[outbox] changes only with a restart") }
            await control.apply(setup)
            configuration = new
            startPreparing()
            do {
                try serve(new, await runner.samplers())
            } catch {
                log.error("[http] \(error)")
            }
            log.info("the configuration has been read")
        } catch let error as ConfigurationError {
            for problem in error.problems { log.error(problem.description) }
            log.error("the running configuration stays as it was")
        } catch {
            log.error("the configuration was read only in part: \(error)")
        }
    }

    /// Reads the outbox beside the publisher.
    nonisolated var outboxReader: OutboxReader { OutboxReader(folder: directory.path) }

    /// What the bridge does now.
    func status() async -> StatusReport {
        let state = await control.state()
        return StatusReport(
            name: configuration.name,
            delivery: await delivery.status,
            wanted: state.wanted,
            applied: state.applied,
            source: state.reason,
            since: state.since,
            session: state.session,
            points: outbox.statistics.total,
            outbox: await outbox.condition,
            feeds: outbox.statistics.feeds,
            recorder: await recorder.health,
            state: await store.condition,
            streams: flow.monitors(),
            running: await runner.running(),
            drops: flow.drops,
            wall: time.wall(),
            boot: time.boot()
        )
    }

    /// What sources that send by themselves have said last; others are better read anew.
    func pushed() async -> [(kind: String, reading: SensorReading)] {
        var rows: [(kind: String, reading: SensorReading)] = []
        for case let sampler as PushSampler in await runner.samplers() {
            for reading in await sampler.readings() { rows.append((sampler.kind, reading)) }
        }
        return rows
    }

    private var feeds: [FeedKey] {
        let named =
            [configuration.control.feed, configuration.control.statusFeed] + configuration.rules.map(\.rule.feed)
            + configuration.forwards.map(\.feed)
        return named + missingFeeds.subtracting(named).sorted()
    }

    /// Makes the feeds that are missing, by REST; points for a feed wait until it is there.
    private func startPreparing() {
        guard !configuration.account.isPlain else { return }
        preparing?.cancel()
        preparing = Task { [account, delivery, feeds] in
            await account.prepare(feeds: feeds) { ready in
                for feed in ready { delivery.feedIsReady(feed) }
            }
        }
    }

    /// Tells the other parts what delivery says.
    private func followDelivery() async {
        for await event in delivery.events {
            switch event {
            case .link(.mqtt): control.tell(.connected(.mqtt))
            case .link(.rest): control.tell(.connected(.rest))
            case .link(nil): control.tell(.disconnected)
            case .control(let value, let retained): control.tell(.arrived(value, retained: retained))
            case .value(let feed, let text):
                await flow.forwards.take(text, of: feed, to: broker?.broker, at: time.boot())
            case .feedIsMissing(let feed):
                // Points may wait for a feed that no rule names any more, or never did: an import's.
                missingFeeds.insert(feed)
                startPreparing()
            case .stretch(let stretch): flow.stretch(stretch.intervals)
            case .clockOffset(let offset):
                serviceClock = ServiceClock(time: time.wall() + offset, at: time.boot())
                watchClock()
            }
        }
    }

    /// The streams that are needed while the switch is off, too.
    private func needed(_ derivations: [any Derivation], _ configuration: Configuration) -> Set<Name> {
        DerivedStreams.needed(derivations, configuration.derivations, also: configuration.alerting.needed)
    }

    private func watchAlerts(_ configuration: Configuration, begun: [String]? = nil) throws {
        let executor = AlertExecutor(
            commands: commands,
            log: log,
            publish: { [outbox] in outbox.append($0) },
            record: { [control] in control.tell(.alert($0 ? .on : .off)) }
        )
        try flow.watch(configuration.alerting.alerts, begun: begun, with: executor)
    }

    /// Keeps what derivations must know after a restart: totals, and in which places one is.
    private func keepDerivations() async {
        let states = flow.derivationStates
        let begun = flow.begunAlerts
        guard states != keptStates || begun != keptAlerts else { return }
        do {
            try await store.set("derivations", StateText.text(states))
            try await store.set("alerts", StateText.text(begun))
            (keptStates, keptAlerts) = (states, begun)
        } catch {
            log.error("cannot keep the state of the derivations: \(error)")
        }
    }

    private func tick() async {
        var seconds = 0
        if configuration.account.isPlain { checkClock() }
        while (try? await time.sleep(for: .seconds(1))) != nil {
            flow.tick()
            await store.retry()
            if configuration.account.isPlain { checkClock() } else { watchClock() }
            seconds += 1
            if seconds.isMultiple(of: 10) { await keepDerivations() }
        }
    }

    /// Compares the wall clock with the service's, which goes on by the boot-time clock: no step of ours moves it.
    private func watchClock() {
        let (wall, boot) = (time.wall(), time.boot())
        let right = serviceClock?.time(at: boot)
        let isRight: Bool
        guard let right else {
            // The service has not told the time yet.
            return
        }
        let behind = right - wall
        isRight = abs(behind.inSeconds) < 300
        if !isRight {
            outbox.setTime(right)
            if clockWasRight != false {
                log.warning(
                    "the clock is \(Int(behind.inSeconds)) s behind the service's: data points get the service's time, "
                        + "what is recorded is put right when the clock is"
                )
            }
        }
        guard isRight != clockWasRight else { return }
        if clockWasRight == false { log.info("the clock is right again") }
        clockWasRight = isRight
        if isRight { outbox.setClock(isRight: true) }
        recorder.setClock(isRight: isRight)
    }

    /// A plain broker does not tell the time: the wall clock is right when it is plausible. Told when that changes, or
    /// when the clock was set.
    private func checkClock() {
        let (wall, boot) = (time.wall(), time.boot())
        let offset = wall - Timestamp(nanoseconds: boot.nanoseconds)
        let isRight = wall >= Self.plausible
        if let checkedClock, checkedClock.isRight == isRight, abs((offset - checkedClock.offset).inSeconds) < 1 {
            return
        }
        checkedClock = (isRight, offset)
        if !isRight { log.warning("the clock shows \(wall), which is plainly wrong: data points wait until it is set") }
        outbox.setClock(isRight: isRight)
        recorder.setClock(isRight: isRight)
    }

    /// 2020-01-01: a wall clock before it is plainly wrong.
    private static let plausible = Timestamp(nanoseconds: 1_577_836_800_000_000_000)

    private func watchLimits() async {
        var hours = 0
        while (try? await time.sleep(for: .seconds(5))) != nil {
            await control.checkLimits()
            hours += 1
            guard hours % 720 == 0 else { continue }
            do {
                try await recorder.expire()
            } catch {
                log.warning("old samples could not be removed: \(error)")
            }
        }
    }

    /// Gives the link a moment to send what waits.
    private func drain() async {
        // What does not leave now waits on the disk for the next start.
        let deadline = time.boot().advanced(by: .milliseconds(500))
        while await delivery.status.link == .mqtt, outbox.statistics.total.pending > 0, time.boot() < deadline {
            try? await time.sleep(for: .milliseconds(20))
        }
    }

    /// Opens what the configuration wants open: the TCP server for numbers and phones, and the local broker.
    private func serve(_ configuration: Configuration, _ samplers: [any Sampler]) throws {
        let phones = samplers.compactMap { $0 as? PushSampler }
        let token =
            phones.isEmpty || configuration.http.listen == nil
            ? nil : try HTTPToken.load(configuration, directory, environment: environment)
        push.replace(phones, token: token)
        try connectBroker(configuration, phones)
        let settings = configuration.http
        guard settings != http?.settings else { return }
        http?.server.stop()
        http = nil
        guard let address = settings.listen else { return }
        let server = try HTTPServer(
            .tcp(host: address.host, port: address.port),
            routes: LocalRoutes(service: self).metrics + push.routes,
            limits: PushRoutes.limits,
            tls: try settings.tls(configuration.file),
            access: .strict(names: settings.names + [InitCommand.bridgeName, "\(InitCommand.bridgeName).local"]),
            log: log
        )
        http = (settings, server)
        let scheme = settings.certificate == nil ? "http" : "https"
        log.info("metrics on \(scheme)://\(address.host):\(server.port)/metrics")
        if settings.certificate == nil, !phones.isEmpty, !Endpoint(address).isLoopback {
            log.warning(
                "phones send their token and positions unencrypted: set [http] certificate, unless the network is yours"
            )
        }
    }

    private func connectBroker(_ configuration: Configuration, _ phones: [PushSampler]) throws {
        let samplers = phones.filter { !$0.configuration.topics.isEmpty }
        if let broker, let settings = configuration.homeBroker, broker.settings == settings,
            broker.samplers.elementsEqual(samplers, by: ===)
        {
            return
        }
        broker?.task.cancel()
        broker = nil
        guard let settings = configuration.homeBroker, !samplers.isEmpty || !configuration.forwards.isEmpty else {
            return
        }
        var connection = MQTTConfiguration(
            host: settings.url.host,
            port: settings.url.port,
            tls: settings.url.isSecure ? TLSConfiguration(caFile: settings.caFile) : nil
        )
        connection.username = settings.username
        connection.password = try settings.passwordFile.map { file throws(ConfigurationError) in
            try HTTPToken.read(file, configuration.file, least: 1, keepsSpaces: true)
        }
        connection.clientID = ClientID.text(name: configuration.name)
        let broker = LocalBroker(connection, samplers: samplers, time: time, log: log)
        self.broker = (settings, samplers, broker, Task { await broker.run() })
    }
}

extension Configuration.Account {
    /// The points a minute that are known before the service was asked: those of the free plan; nil: any number.
    var knownPoints: Int? {
        switch plan {
        case .auto: isPlain ? nil : 30
        case .pointsPerMinute(let points): points
        }
    }
}
