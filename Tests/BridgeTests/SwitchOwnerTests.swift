import Control
import Diagnostics
import Glibc
import Publisher
import Recorder
import Samples
import TestKit
import Testing

@testable import Bridge

/// A switch with a real recorder and a sampler; its link is not connected, so a test says what the feed says.
private struct SwitchWorld {
    let flow: FlowWorld
    let sampler: ScriptedSampler
    let runner: SamplerRunner
    let owner: SwitchOwner
    let store: KeyValueStore
    let running: Task<Void, Never>

    static let text = "[account]\nusername = \"ada\"\n[recorder]\nsmallest_free = \"1 MB\"\n"

    init(_ text: String = SwitchWorld.text, _ flow: FlowWorld? = nil, memory: SwitchMemory? = nil) async throws {
        let flow = if let flow { flow } else { try await FlowWorld() }
        self.flow = flow
        sampler = ScriptedSampler(time: flow.time)
        runner = SamplerRunner(flow: flow.flow, time: flow.time, log: flow.talk.log)
        await runner.replace(with: [(.test(), sampler)])
        store = try await KeyValueStore.open(folder: flow.folder.path, time: flow.time, log: flow.talk.log)
        let delivery = try flow.delivery(try Configuration(parsing: text, file: "feedbridge.toml"))
        // It answers every request with no.
        delivery.stop()
        let remembered = await store.value("switch").flatMap { StateText.value(SwitchMemory.self, $0) }
        owner = SwitchOwner(
            try SwitchWorld.setup(text),
            memory: memory ?? remembered ?? SwitchMemory(),
            recorder: flow.recorder,
            samplers: runner,
            flow: flow.flow,
            delivery: delivery,
            feedReader: nil,
            store: store,
            time: flow.time,
            log: flow.talk.log
        )
        running = Task { [owner] in await owner.run() }
    }

    static func setup(_ text: String) throws -> SwitchSetup {
        try SwitchSetup(try Configuration(parsing: text, file: "feedbridge.toml"))
    }

    func until(_ applied: SwitchState) async throws {
        try await TestKit.until("the switch is \(applied)") {
            let state = await self.owner.state()
            return state.wanted == applied && state.applied == applied
        }
    }

    func end() async {
        owner.finish()
        await running.value
        await runner.stopAll()
    }
}

@Suite("The owner of the switch", .timeLimit(.minutes(1)))
struct SwitchOwnerTests {
    @Test("ON on the feed starts a session with samples in it, OFF ends it, and both say why")
    func follows() async throws {
        let world = try await SwitchWorld()
        world.owner.tell(.connected(.mqtt))

        world.owner.tell(.arrived("ON", retained: false))
        try await world.until(.on)
        try await until("a sample is there") { world.flow.flow.monitors()[Name(mapping: "test")]?.good == 1 }
        world.flow.time.advance(by: .seconds(1))
        world.owner.tell(.arrived("OFF", retained: false))
        try await world.until(.off)

        let sessions = try await world.flow.recorder.sessions()
        #expect(sessions.map(\.reason) == [.dashboard])
        #expect(sessions.map(\.endReason) == [.dashboard])
        #expect(sessions.map(\.state) == [.ended])
        #expect(sessions.first?.samples == [Name(mapping: "test"): 1])
        #expect(!world.sampler.isRunning)
        await world.end()
    }

    @Test("starts and stops within milliseconds end in the last one", arguments: [SwitchState.on, .off])
    func quick(last: SwitchState) async throws {
        let world = try await SwitchWorld()
        world.owner.tell(.connected(.mqtt))

        for _ in 0..<20 {
            world.owner.tell(.arrived("ON", retained: false))
            world.owner.tell(.arrived("OFF", retained: false))
        }
        if last == .on { world.owner.tell(.arrived("ON", retained: false)) }
        // Answered when the switch has come to rest, after all that was said before.
        let outcome = await world.owner.command(last == .on ? .start : .stop)

        let sessions = try await world.flow.recorder.sessions()
        #expect(outcome == (last == .on ? .recording(session: sessions.last?.id ?? 0) : .stopped))
        #expect(sessions.last?.state == (last == .on ? .running : .ended) || last == .off && sessions.isEmpty)
        #expect(sessions.dropLast().allSatisfy { $0.state == .ended })
        #expect(world.sampler.mostAtOnce <= 1)
        await world.end()
    }

    @Test("a local command returns when it is done: the session's number, or that it is stopped")
    func commands() async throws {
        let world = try await SwitchWorld()

        #expect(await world.owner.command(.stop) == .stopped)
        #expect(await world.owner.command(.start) == .recording(session: 1))
        #expect(await world.owner.command(.start) == .recording(session: 1))
        #expect(await world.owner.command(.toggle) == .stopped)
        #expect(await world.owner.command(.toggle) == .recording(session: 2))

        #expect(try await world.flow.recorder.sessions().map(\.reason) == [.command, .command])
        await world.end()
    }

    @Test("a command that the dashboard overrides is answered, too")
    func overridden() async throws {
        let world = try await SwitchWorld()
        world.owner.tell(.connected(.mqtt))

        for _ in 0..<20 {
            async let outcome = world.owner.command(.start)
            world.owner.tell(.arrived("ON", retained: false))
            world.owner.tell(.arrived("OFF", retained: false))
            switch await outcome {
            case .recording: _ = await world.owner.command(.stop)
            case .failed(let why): #expect(why.contains("turned off meanwhile"))
            case .stopped: Issue.record("a start is not answered with stopped")
            }
        }
        await world.end()
    }

    @Test("a disk with too little room: the start fails, says so, and nothing runs")
    func noRoom() async throws {
        let text = "[account]\nusername = \"ada\"\n[recorder]\nsmallest_free = \"8000000 TB\"\n"
        let world = try await SwitchWorld(text)

        let outcome = await world.owner.command(.start)

        guard case .failed(let why) = outcome else {
            Issue.record("it was \(outcome)")
            return
        }
        #expect(why.contains("smallest_free"))
        #expect(await world.owner.state().wanted == .off)
        #expect(try await world.flow.recorder.sessions().isEmpty)
        #expect(world.sampler.runs == 0)
        await world.end()
    }

    @Test("a recorder that cannot start a session: the start fails, and the samplers stop again")
    func failedStart() async throws {
        let world = try await SwitchWorld()
        try await world.flow.recorder.close()

        let outcome = await world.owner.command(.start)

        guard case .failed(let why) = outcome else {
            Issue.record("it was \(outcome)")
            return
        }
        #expect(!why.isEmpty)
        #expect(!world.sampler.isRunning)
        #expect(await world.owner.state().wanted == .off)
        #expect(await world.owner.state().reason == .error)
        await world.end()
    }

    @Test("the longest session is ended by its limit, not before")
    func longest() async throws {
        let text = SwitchWorld.text + "longest_session = \"1 h\"\n"
        let world = try await SwitchWorld(text)
        _ = await world.owner.command(.start)

        world.flow.time.advance(by: .seconds(3599))
        await world.owner.checkLimits()
        #expect(await world.owner.command(.start) == .recording(session: 1))
        world.flow.time.advance(by: .seconds(1))
        await world.owner.checkLimits()

        try await world.until(.off)
        #expect(try await world.flow.recorder.session(1).endReason == .limit)
        await world.end()
    }

    @Test(
        "a recorder that fails for half a minute ends the session with an error, and not sooner; a start is tried again"
    )
    func broken() async throws {
        let world = try await SwitchWorld()
        _ = await world.owner.command(.start)
        try await until("a sample is there") { world.flow.flow.monitors()[Name(mapping: "test")]?.good == 1 }
        let blocker = try ChildProcess("python3", ["-c", Self.blocker, world.flow.folder.file("recordings.sqlite")])
        try await blocker.untilOutput(contains: "locked")
        world.flow.flow.receive(world.flow.batch(stream("test", "value"), 1))
        await #expect(throws: RecorderError.self) { try await world.flow.recorder.flush() }

        await world.owner.checkLimits()
        world.flow.time.advance(by: .seconds(29))
        await world.owner.checkLimits()
        #expect(await world.owner.state().session == 1)
        world.flow.time.advance(by: .seconds(1))
        let end = world.flow.time.wall()
        await world.owner.checkLimits()
        try await world.until(.off)

        #expect(await world.owner.state().reason == .error)
        #expect(!world.sampler.isRunning)
        #expect(world.flow.talk.text.contains("recording stops: "))
        blocker.signal(SIGKILL)
        _ = try await blocker.ended()
        // The session's end is written as soon as that is possible, with the time at which it was.
        try await world.flow.recorder.flush()
        let session = try await world.flow.recorder.session(1)
        #expect(session.state == .ended && session.endReason == .error && session.end == end)
        #expect(session.samples == [Name(mapping: "test"): 2])
        #expect(await world.owner.command(.start) == .recording(session: 2))
        await world.end()
    }

    /// Holds the write lock of a database until it is killed.
    private static let blocker = """
        import sqlite3, sys, time
        base = sqlite3.connect(sys.argv[1], isolation_level=None)
        base.execute("BEGIN IMMEDIATE")
        print("locked", flush=True)
        time.sleep(600)
        """

    @Test("changed limits hold for the session that runs, which goes on otherwise")
    func changedLimits() async throws {
        let world = try await SwitchWorld()
        _ = await world.owner.command(.start)
        world.flow.time.advance(by: .seconds(7200))
        await world.owner.checkLimits()
        #expect(await world.owner.state().session == 1)

        await world.owner.apply(try SwitchWorld.setup(SwitchWorld.text + "longest_session = \"1 h\"\n"))
        #expect(await world.owner.state().session == 1)
        await world.owner.checkLimits()

        try await world.until(.off)
        await world.end()
    }

    @Test("other words and feeds keep the session running, and the new words count")
    func changedWords() async throws {
        let world = try await SwitchWorld()
        _ = await world.owner.command(.start)

        await world.owner.apply(
            try SwitchWorld.setup(SwitchWorld.text + "[switch]\non_start = \"off\"\noff_words = [\"sleep\"]\n")
        )

        #expect(await world.owner.command(.start) == .recording(session: 1))
        world.owner.tell(.connected(.mqtt))
        world.owner.tell(.arrived("sleep", retained: false))
        try await world.until(.off)
        #expect(try await world.flow.recorder.sessions().count == 1)
        await world.end()
    }

    @Test("settings that change while a session starts and stops leave no session behind")
    func changedMeanwhile() async throws {
        let world = try await SwitchWorld()
        world.owner.tell(.connected(.mqtt))
        let other = try SwitchWorld.setup(SwitchWorld.text + "[switch]\non_words = [\"wake\"]\n")
        let first = try SwitchWorld.setup(SwitchWorld.text)

        for round in 0..<20 {
            world.owner.tell(.arrived("ON", retained: false))
            world.owner.tell(.arrived("OFF", retained: false))
            await world.owner.apply(round.isMultiple(of: 2) ? other : first)
            world.owner.tell(.connected(.mqtt))
        }
        world.owner.tell(.arrived("OFF", retained: false))
        #expect(await world.owner.command(.stop) == .stopped)

        try await until("no session runs") {
            try await world.flow.recorder.sessions().allSatisfy { $0.state == .ended }
        }
        #expect(!world.sampler.isRunning)
        await world.end()
    }

    @Test("what was wanted survives a restart, and stopping the program ends the session properly")
    func memory() async throws {
        let first = try await SwitchWorld()
        _ = await first.owner.command(.start)
        await first.end()
        #expect(try await first.flow.recorder.session(1).state == .ended)
        #expect(await first.owner.command(.start) == .failed("the bridge is stopping"))

        let second = try await SwitchWorld(SwitchWorld.text, first.flow)

        try await second.until(.on)
        #expect(await second.owner.state().session == 2)
        await second.end()
        let third = try await SwitchWorld(SwitchWorld.text + "[switch]\non_start = \"off\"\n", first.flow)
        try await third.until(.off)
        await third.end()
    }

    @Test("stopping the program while a session starts leaves none running")
    func stopsWhileStarting() async throws {
        for _ in 0..<20 {
            let world = try await SwitchWorld()
            world.owner.tell(.command(.start))
            await world.end()
            #expect(try await world.flow.recorder.sessions().allSatisfy { $0.state == .ended })
        }
    }

    @Test("a memory that cannot be read is a first run")
    func brokenMemory() throws {
        #expect(StateText.value(SwitchMemory.self, "{") == nil)
        #expect(StateText.value(SwitchMemory.self, "") == nil)
        let memory = SwitchMemory()
        #expect(StateText.value(SwitchMemory.self, try StateText.text(memory)) == memory)
    }
}
