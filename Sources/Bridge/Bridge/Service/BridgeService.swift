internal import Alerts
internal import Control
internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import HTTPServer
internal import Outbox
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
    private var key: Secret
    private let time: any TimeSource
    private let log: Log
    private var keptStates: [String: [UInt8]] = [:]
    private var keptAlerts: [String] = []
    private let commands: CommandRunner
    private var preparing: Task<Void, Never>?
    /// Feeds that points were sent to and that the account does not have.
    private var missingFeeds: Set<FeedKey> = []
    private var reloading: Task<Void, Never>?
    private var metrics: (address: Configuration.ListenAddress, server: HTTPServer)?

    init(
        _ configuration: Configuration,
        key: Secret,
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

        var settings = RecorderStore.Settings()
        settings.host = InitCommand.bridgeName
        settings.software = "feedbridge \(FeedbridgeVersion.text)"
        recorder = try await RecorderStore.open(folder: directory.path, settings: settings, time: time, log: log)
        let store = try KeyValueStore(path: directory.file("state.sqlite"))
        self.store = store
        self.key = key
        outbox = try await OutboxStore.open(
            folder: directory.path,
            settings: configuration.outbox,
            time: time,
            log: log
        )
        let rules = try RuleEngine(configuration.rules.map(\.rule), device: configuration.name, isRecording: false)
        flow = DataFlow(rules: rules, recorder: recorder, outbox: outbox, time: time, log: log)
        let states = try await store.value("derivations").flatMap { StateText.value([String: [UInt8]].self, $0) }
        let derivations = try configuration.makeDerivations()
        flow.replace(derivations: derivations, written: configuration.derivations, states: states ?? [:])
        runner = SamplerRunner(flow: flow, time: time, log: log)
        let kept = try await store.value("publisher").flatMap { StateText.value(PublisherMemory.self, $0) }
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
        let memory = try await store.value("switch").flatMap { StateText.value(SwitchMemory.self, $0) }
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
            try serveMetrics(configuration.http)
        } catch {
            try? await recorder.close()
            let problem = ConfigurationProblem(file: configuration.file, line: 0, column: 0, text: "[http] \(error)")
            throw ConfigurationError(problems: [problem])
        }
        log.info("feedbridge \(FeedbridgeVersion.text) runs as \(configuration.name); state in \(directory.path)")
        let begun = try? await store.value("alerts").flatMap { StateText.value([String].self, $0) }
        try watchAlerts(configuration, begun: begun ?? [])
        let derivations = try configuration.makeDerivations()
        await runner.replace(with: samplers, needed: needed(derivations, configuration))

        let recording = Task { [recorder] in try await recorder.run() }
        let keeping = Task { [outbox] in try await outbox.run() }
        for feed in feeds { delivery.feedIsUnknown(feed) }
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
        metrics?.server.stop()
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
            let key = try ConfigurationFile.key(for: new, environment: environment)
            let samplers = try SamplerFactory.make(new, time: time)
            let setup = try SwitchSetup(new)
            if new.name != configuration.name || new.state != configuration.state {
                log.warning("name and state change only with a restart")
            }
            let derivations = try new.makeDerivations()
            let streams = samplers.flatMap { $0.sampler.streams } + derivations.flatMap(\.outputs)
            try flow.replace(rules: new.rules.map(\.rule), streams: streams)
            flow.replace(derivations: derivations, written: new.derivations)
            try watchAlerts(new)
            await runner.replace(with: samplers, needed: needed(derivations, new))
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
                try serveMetrics(new.http)
            } catch {
                log.error("metrics are not served: \(error)")
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
            streams: flow.monitors(),
            running: await runner.running(),
            drops: flow.drops,
            wall: time.wall(),
            boot: time.boot()
        )
    }

    private var feeds: [FeedKey] {
        let named =
            [configuration.control.feed, configuration.control.statusFeed] + configuration.rules.map(\.rule.feed)
        return named + missingFeeds.subtracting(named).sorted()
    }

    /// Makes the feeds that are missing, by REST; points for a feed wait until it is there.
    private func startPreparing() {
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
            case .control(let value): control.tell(.arrived(value, retained: false))
            case .feedIsMissing(let feed):
                // Points may wait for a feed that no rule names any more, or never did: an import's.
                missingFeeds.insert(feed)
                startPreparing()
            case .stretch(let stretch): flow.stretch(stretch.intervals)
            case .clockOffset(let offset):
                let isRight = abs(offset.inSeconds) < 300
                if !isRight { log.warning("the clock is \(Int(offset.inSeconds)) s behind the service's") }
                outbox.setClock(isRight: isRight)
                recorder.setClock(isRight: isRight)
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
        while (try? await time.sleep(for: .seconds(1))) != nil {
            flow.tick()
            seconds += 1
            if seconds.isMultiple(of: 10) { await keepDerivations() }
        }
    }

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

    private func serveMetrics(_ settings: Configuration.HTTP) throws {
        guard settings.listen != metrics?.address else { return }
        metrics?.server.stop()
        metrics = nil
        guard let address = settings.listen else { return }
        let server = try HTTPServer(
            .tcp(host: address.host, port: address.port),
            routes: LocalRoutes(service: self).metrics,
            log: log
        )
        metrics = (address, server)
        log.info("metrics on http://\(address.host):\(server.port)/metrics")
    }
}

extension Configuration.Account.Plan {
    /// The points a minute that are known before the service was asked: those of the free plan.
    var knownPoints: Int {
        switch self {
        case .auto: 30
        case .pointsPerMinute(let points): points
        }
    }
}
