internal import Control
internal import DataPoints
internal import Diagnostics
internal import Feeds
internal import HTTPServer
internal import MQTT
internal import Publisher
internal import Recorder
internal import Samples

/// The running bridge: knows every part, and only wires them.
actor BridgeService {
    nonisolated let recorder: RecorderStore
    nonisolated let control: SwitchOwner

    private var configuration: Configuration
    private let directory: StateDirectory
    private let environment: [String: String]
    private let flow: DataFlow
    private let runner: SamplerRunner
    private let queue: PointBuffer
    private let link: MQTTLink
    private let account: AccountAccess
    private let time: any TimeSource
    private let log: Log
    private var preparing: Task<Void, Never>?
    private var reloading: Task<Void, Never>?
    private var metrics: (address: Configuration.ListenAddress, server: HTTPServer)?

    /// Points that wait in memory at most: ten minutes of the largest plan.
    private static let queuedPoints = 600

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

        var settings = RecorderStore.Settings()
        settings.host = InitCommand.bridgeName
        settings.software = "feedbridge \(FeedbridgeVersion.text)"
        recorder = try await RecorderStore.open(folder: directory.path, settings: settings, time: time, log: log)
        let store = try KeyValueStore(path: directory.file("state.sqlite"))
        queue = PointBuffer(capacity: Self.queuedPoints, time: time)
        let rules = try RuleEngine(configuration.rules.map(\.rule), device: configuration.name, isRecording: false)
        flow = DataFlow(rules: rules, recorder: recorder, queue: queue, time: time, log: log)
        runner = SamplerRunner(flow: flow, time: time, log: log)
        account = try AccountAccess(configuration, key: key, time: time, log: log)
        link = MQTTLink(
            MQTTLinkSettings(configuration, key: key, pointsPerMinute: configuration.account.plan.knownPoints),
            queue: queue,
            time: time,
            log: log
        )
        let memory = try await store.value("switch").flatMap(SwitchMemoryText.memory)
        control = SwitchOwner(
            try SwitchSetup(configuration),
            memory: memory ?? SwitchMemory(),
            recorder: recorder,
            samplers: runner,
            flow: flow,
            link: link,
            feedReader: account,
            store: store,
            time: time,
            log: log
        )
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
        await runner.replace(with: samplers)

        let recording = Task { [recorder] in try await recorder.run() }
        let linking = Task { [link] in try await link.run() }
        let switching = Task { [control] in await control.run() }
        startPreparing()
        let helpers = [
            Task { await followLink() },
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
        preparing?.cancel()
        for helper in helpers { helper.cancel() }
        await drain()
        linking.cancel()
        _ = try? await linking.value
        recording.cancel()
        _ = try? await recording.value
        do {
            try await recorder.close()
        } catch {
            log.error("the recordings could not be closed properly: \(error)")
        }
        metrics?.server.stop()
        account.close()
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
            let streams = samplers.flatMap { $0.sampler.streams }
            try flow.replace(rules: new.rules.map(\.rule), streams: streams)
            await runner.replace(with: samplers)
            try account.apply(new, key: key)
            link.apply(MQTTLinkSettings(new, key: key, pointsPerMinute: new.account.plan.knownPoints))
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

    /// What the bridge does now.
    func status() async -> StatusReport {
        let state = await control.state()
        return StatusReport(
            name: configuration.name,
            link: link.linkState,
            wanted: state.wanted,
            applied: state.applied,
            source: state.reason,
            since: state.since,
            session: state.session,
            points: queue.counts,
            budget: link.budget,
            streams: flow.monitors(),
            running: await runner.running(),
            drops: flow.drops,
            wall: time.wall(),
            boot: time.boot()
        )
    }

    /// Makes the feeds that are missing, by REST, and learns the plan; until that was tried nothing is published.
    private func startPreparing() {
        preparing?.cancel()
        preparing = Task { await prepare() }
    }

    private func prepare() async {
        let feeds =
            [configuration.control.feed, configuration.control.statusFeed] + configuration.rules.map(\.rule.feed)
        await account.prepare(feeds: feeds, plan: configuration.account.plan) { [link] points, used in
            if let points { link.setPointsPerMinute(points) }
            link.noteUsed(used)
        } blocked: { [link] feeds in
            link.block(feeds)
        } attempted: { [link] in
            link.allowPublishing()
        }
    }

    /// Tells the switch what the link does.
    private func followLink() async {
        for await event in link.events {
            switch event {
            case .up: control.tell(.connected(.mqtt))
            case .down: control.tell(.disconnected)
            case .control(let value): control.tell(.arrived(value, retained: false))
            }
        }
    }

    private func tick() async {
        while (try? await time.sleep(for: .seconds(1))) != nil { flow.tick() }
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
        let deadline = time.boot().advanced(by: .seconds(2))
        while link.linkState.isUp, queue.counts.pending > 0, time.boot() < deadline {
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
