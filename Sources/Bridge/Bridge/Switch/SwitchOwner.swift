internal import Control
internal import DataPoints
internal import Diagnostics
internal import Publisher
internal import Recorder
internal import SQLite

/// Owns the switch: hands it what happens, one event after the other, and does what it decides.
actor SwitchOwner {
    /// What became of a local command.
    enum Outcome: Sendable, Equatable {
        case recording(session: Int64)
        case stopped
        case failed(String)
    }

    private struct Waiter {
        let wanted: SwitchState
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private enum Item: Sendable {
        case event(SwitchEvent)
        case command(SwitchCommand, CheckedContinuation<Outcome, Never>)
    }

    private var setup: SwitchSetup
    private let recorder: RecorderStore
    private let samplers: SamplerRunner
    private let flow: DataFlow
    private let delivery: PublisherDriver
    private let feedReader: (any ControlFeedReader)?
    private let store: KeyValueStore
    private let time: any TimeSource
    private let log: Log

    private var machine: SwitchStateMachine
    private var memory: SwitchMemory
    private var waiters: [Waiter] = []
    private var alarm: (deadline: BootInstant, task: Task<Void, Never>)?
    private var remembering: Task<Void, Never>?
    private var telling: Task<Void, Never>?
    /// The newest start or stop, and how many of them have not ended.
    private var step: Task<Void, Never>?
    private var openSteps = 0
    private(set) var session: Int64?
    private var sessionStart: BootInstant?
    private(set) var appliedSince: Timestamp
    /// Since when the recorder has failed in this session.
    private var failingSince: BootInstant?
    /// The link that works, as was told last.
    private var used: SwitchLink?
    private let items: AsyncStream<Item>
    private let inbox: AsyncStream<Item>.Continuation

    init(
        _ setup: SwitchSetup,
        memory: SwitchMemory,
        recorder: RecorderStore,
        samplers: SamplerRunner,
        flow: DataFlow,
        delivery: PublisherDriver,
        feedReader: (any ControlFeedReader)?,
        store: KeyValueStore,
        time: any TimeSource,
        log: Log
    ) {
        self.setup = setup
        self.memory = memory
        machine = SwitchStateMachine(settings: setup.settings, memory: memory)
        self.recorder = recorder
        self.samplers = samplers
        self.flow = flow
        self.delivery = delivery
        self.feedReader = feedReader
        self.store = store
        self.time = time
        self.log = log
        appliedSince = time.wall()
        // What fills it is bounded: the link keeps 64 events, commands wait for their outcome, actions answer once.
        (items, inbox) = AsyncStream.makeStream()
    }

    /// Tells the switch what happened.
    nonisolated func tell(_ event: SwitchEvent) {
        inbox.yield(.event(event))
    }

    /// Gives a local command and returns when it is done or has failed.
    func command(_ command: SwitchCommand) async -> Outcome {
        await withCheckedContinuation { continuation in
            if case .terminated = inbox.yield(.command(command, continuation)) {
                continuation.resume(returning: .failed(Self.isStopping))
            }
        }
    }

    private static let isStopping = "the bridge is stopping"

    /// Handles events until `finish()`; then stops what is recorded.
    func run() async {
        handle(.launched)
        for await item in items {
            switch item {
            case .event(let event): handle(event)
            case .command(let command, let continuation):
                let wanted: SwitchState =
                    switch command {
                    case .start: .on
                    case .stop: .off
                    case .toggle: machine.wanted.opposite
                    }
                waiters.append(Waiter(wanted: wanted, continuation: continuation))
                handle(.command(command))
            }
        }
        alarm?.task.cancel()
        telling?.cancel()
        for waiter in waiters { waiter.continuation.resume(returning: .failed(Self.isStopping)) }
        waiters = []
        await shutDown()
        await sayGoodbye()
    }

    /// What the switch says now.
    func state() -> (
        wanted: SwitchState, applied: SwitchState?, reason: SwitchReason, session: Int64?, since: Timestamp
    ) {
        (machine.wanted, machine.applied, machine.reason, session, appliedSince)
    }

    /// A recorder that fails for so long has stopped recording; until then it tries again and keeps what its buffer holds.
    private static let patience = Duration.seconds(30)

    /// Ends the session when it is too long, the disk too full or the recorder broken. To be called now and then.
    func checkLimits() async {
        let failure = await recorder.condition
        guard session != nil, let sessionStart else {
            failingSince = nil
            return
        }
        if let failure {
            let since = failingSince ?? time.boot()
            failingSince = since
            if since.duration(to: time.boot()) >= Self.patience { return giveUp("\(failure)") }
        } else {
            failingSince = nil
        }
        let age = sessionStart.duration(to: time.boot())
        guard let reached = setup.limits.reached(age: age, free: freeBytes) else { return }
        log.warning("recording stops: \(reached)")
        tell(.limitReached)
    }

    /// Takes changed settings. A session that runs goes on.
    func apply(_ setup: SwitchSetup) async {
        // The switch begins anew, so what it has started or stopped must be done.
        while openSteps > 0 { await step?.value }
        let old = self.setup
        self.setup = setup
        guard
            setup.settings != old.settings || setup.controlFeed != old.controlFeed || setup.statusFeed != old.statusFeed
        else { return }
        var settings = setup.settings
        settings.onStart = .follow
        machine = SwitchStateMachine(settings: settings, memory: memory)
        handle(.launched)
        // Started for the switch as it was, and not wanted any more.
        if session != nil, machine.wanted == .off { stop(machine.reason) }
        if let used { handle(.connected(used)) }
    }

    private var freeBytes: Int64? { recorder.files.freeBytes().map { Int64($0) } }

    private func handle(_ event: SwitchEvent) {
        switch event {
        case .started, .stopped: appliedSince = time.wall()
        case .connected(let link): used = link
        case .disconnected: used = nil
        default: break
        }
        for action in machine.handle(event, at: SwitchMoment(time)) { perform(action) }
        switch event {
        case .startFailed(let why), .broke(let why): failWaiters(why)
        default: answerWaiters()
        }
        arm()
    }

    private func perform(_ action: SwitchAction) {
        switch action {
        case .remember(let memory): remember(memory)
        case .start(let reason): start(reason)
        case .stop(let reason): stop(reason)
        case .write(let text, let write):
            Task {
                await remembering?.value
                switch await delivery.write(text, to: setup.controlFeed) {
                case .published: break
                case .stored(let createdAt): tell(.written(createdAt: createdAt, write: write))
                case .failed: tell(.writeFailed(write: write))
                }
            }
        case .tell(let text):
            tellStatus(text)
        case .ask:
            Task { _ = await delivery.askForControlValue() }
        case .read(let read):
            Task { tell(await feedReader?.lastValue(of: setup.controlFeed, read: read) ?? .readFailed(read: read)) }
        }
    }

    /// Publishes the newest status; one that finds no room in the budget is tried again until a newer one comes.
    private func tellStatus(_ text: String) {
        telling?.cancel()
        telling = Task { [delivery, time, feed = setup.statusFeed] in
            while await delivery.write(text, to: feed) == .failed {
                guard (try? await time.sleep(for: .seconds(2))) != nil else { return }
            }
        }
    }

    private func start(_ reason: SwitchReason) {
        // The session's span begins at once, so no sample of the samplers that start after it is lost.
        take { await $0.startSession(reason) }
    }

    private func stop(_ reason: SwitchReason) {
        take {
            await $0.endSession(reason)
            $0.tell(.stopped)
        }
    }

    /// Does one step after the other. Only after changed settings can an earlier one still go on.
    private func take(_ body: @escaping @Sendable (isolated SwitchOwner) async -> Void) {
        let before = openSteps > 0 ? step : nil
        openSteps += 1
        step = Task.immediate {
            await before?.value
            await body(self)
            openSteps -= 1
        }
    }

    private func startSession(_ reason: SwitchReason) async {
        if let session {
            // The switch has begun anew with other settings while a session runs.
            tell(.started(session: "\(session)"))
            return
        }
        if let reached = setup.limits.reached(age: .zero, free: freeBytes) {
            tell(.startFailed("\(reached)"))
            return
        }
        sessionStart = time.boot()
        let starting = Task.immediate { [recorder] in try await recorder.startSession(reason: SessionReason(reason)) }
        flow.setRecording(true)
        await samplers.startRecording()
        do {
            let id = try await starting.value
            session = id
            log.info("recording \(id) started (\(reason.rawValue))")
            tell(.started(session: "\(id)"))
        } catch {
            await samplers.stopRecording()
            flow.setRecording(false)
            sessionStart = nil
            log.error("recording cannot start: \(error)")
            tell(.startFailed("\(error)"))
        }
    }

    private func endSession(_ reason: SwitchReason) async {
        await samplers.stopRecording()
        flow.setRecording(false)
        do {
            if let id = try await recorder.stopSession(reason: SessionReason(reason)) {
                log.info("recording \(id) stopped (\(reason.rawValue))")
            }
        } catch {
            log.error("recording cannot be stopped properly: \(error)")
        }
        session = nil
        sessionStart = nil
    }

    /// The recorder has failed: nothing is recorded any more, and the switch says so.
    private func giveUp(_ why: String) {
        guard openSteps == 0 else { return }
        failingSince = nil
        log.error("recording stops: \(why)")
        take {
            await $0.endSession(.error)
            $0.tell(.broke(why))
        }
    }

    /// Tells the status feed that nothing is recorded any more, when a link works; waits at most two seconds for it.
    private func sayGoodbye() async {
        guard let text = machine.farewell() else { return }
        let (done, end) = AsyncStream<Void>.makeStream()
        let writing = Task { [delivery, feed = setup.statusFeed] in
            _ = await delivery.write(text, to: feed)
            end.finish()
        }
        let waiting = Task { [time] in
            try? await time.sleep(for: .seconds(2))
            end.finish()
        }
        for await _ in done {}
        writing.cancel()
        waiting.cancel()
    }

    private func shutDown() async {
        while openSteps > 0 { await step?.value }
        if session != nil { await endSession(.command) }
        await remembering?.value
    }

    private func remember(_ memory: SwitchMemory) {
        self.memory = memory
        let (store, log, before) = (store, log, remembering)
        remembering = Task { @concurrent in
            await before?.value
            do {
                try await store.set("switch", StateText.text(memory))
            } catch {
                log.error("cannot keep the switch's state: \(error)")
            }
        }
    }

    /// Wakes the machine at its deadline.
    private func arm() {
        let deadline = machine.deadline
        guard deadline != alarm?.deadline else { return }
        alarm?.task.cancel()
        alarm = deadline.map { deadline in
            (
                deadline,
                Task { [time, inbox] in
                    guard (try? await time.sleep(until: deadline)) != nil else { return }
                    inbox.yield(.event(.tick))
                }
            )
        }
    }

    /// Answers every command once the switch has come to rest, whether where the command wanted it or elsewhere.
    private func answerWaiters() {
        guard !waiters.isEmpty, let applied = machine.applied else { return }
        let reached: Outcome
        switch applied {
        case .on:
            guard let session else { return }
            reached = .recording(session: session)
        case .off:
            reached = .stopped
        }
        let done = waiters
        waiters = []
        for waiter in done {
            let isReached = waiter.wanted == applied
            waiter.continuation.resume(
                returning: isReached ? reached : .failed("the switch was turned \(applied.rawValue) meanwhile")
            )
        }
    }

    private func failWaiters(_ why: String) {
        let failed = waiters
        waiters = []
        for waiter in failed { waiter.continuation.resume(returning: .failed(why)) }
    }

    /// No more events: `run()` ends.
    nonisolated func finish() {
        inbox.finish()
    }
}

extension SessionReason {
    init(_ reason: SwitchReason) {
        self =
            switch reason {
            case .dashboard: .dashboard
            case .command: .command
            case .schedule: .schedule
            case .limit: .limit
            case .alert: .alert
            case .error: .error
            }
    }
}
