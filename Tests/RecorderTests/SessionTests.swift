import Diagnostics
import Foundation
import Recorder
import SQLite
import Samples
import TestKit
import Testing

@Suite("Sessions", .timeLimit(.minutes(5)))
struct SessionTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    func open() async throws -> RecorderStore {
        var settings = RecorderStore.Settings()
        settings.host = "greenhouse"
        settings.software = "1.2.3"
        return try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
    }

    @Test("a session holds the samples between its start and its stop")
    func startsAndStops() async throws {
        let store = try await open()
        let before = time.at(-1)
        let start = time.at(0)

        let id = try await store.startSession(reason: .dashboard)
        store.receive(accelerometer.batch([before, start, time.at(10), time.at(20)]))
        #expect(try await store.session(id).state == .running)
        time.advance(by: .milliseconds(15))
        let stopped = try await store.stopSession(reason: .limit)
        let end = time.at(0)

        let session = try await store.session(id)
        #expect(stopped == id)
        #expect(session.start.nanoseconds == start && session.end?.nanoseconds == end)
        #expect(session.state == .ended && session.reason == .dashboard && session.endReason == .limit)
        #expect(session.host == "greenhouse" && session.software == "1.2.3" && session.drops == 0)
        // The sample before the start belongs nowhere. The one after the stop came while the session ran.
        #expect(session.samples == [accelerometer.name: 3])
        #expect(try await store.makeReader().sessions() == [session])
    }

    @Test("a session as JSON has the keys that scripts rely on")
    func json() async throws {
        let store = try await open()
        let id = try await store.startSession(reason: .alert)
        store.receive(mixed.one(time.at(0), .real(1), .integer(1), .text(""), .flag(true)))
        store.receive(accelerometer.batch([time.at(0), time.at(1)]))

        let text = "\(try await store.session(id).json)"

        #expect(
            text == #"{"id":1,"start":"2026-09-21T14:13:20.000Z","end":null,"reason":"alert","state":"running","#
                + #""samples":{"accelerometer":2,"mixed.one":1},"drops":0,"end_reason":null,"host":"greenhouse","#
                + #""software":"1.2.3","unsynchronised":false}"#
        )
    }

    @Test("samples that come while a session starts are not lost")
    func losesNothingAtStart() async throws {
        let store = try await open()
        let start = time.at(0)

        async let id = store.startSession(reason: .command)
        for step in 0..<1000 { store.receive(accelerometer.batch([start + Int64(step)])) }
        let session = try await id
        try await store.flush()

        #expect(try await store.session(session).samples[accelerometer.name] == 1000)
    }

    @Test("only one session runs at a time, and only one that runs can be stopped")
    func oneAtATime() async throws {
        let store = try await open()
        #expect(try await store.stopSession(reason: .command) == nil)

        let id = try await store.startSession(reason: .command)
        let error = try await #require(throws: RecorderError.self) { try await store.startSession(reason: .command) }
        guard case .alreadyRecording(id) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(try await store.stopSession(reason: .command) == id)
        #expect(try await store.startSession(reason: .schedule) == id + 1)
    }

    @Test("a start and a stop at once end in the last one")
    func startAndStopAtOnce() async throws {
        let store = try await open()
        for _ in 0..<20 {
            _ = try await store.startSession(reason: .dashboard)
            try await store.stopSession(reason: .dashboard)
        }
        #expect(await store.runningSessionID == nil)
        #expect(try await store.sessions().allSatisfy { $0.state == .ended })
    }

    @Test("a late batch goes into the session whose span holds its time, else into the always store or nowhere")
    func lateBatches() async throws {
        let store = try await open()
        let start = time.at(0)
        let first = try await store.startSession(reason: .command)
        time.advance(by: .seconds(10))
        try await store.stopSession(reason: .command)
        time.advance(by: .seconds(10))
        let second = try await store.startSession(reason: .command)
        time.advance(by: .seconds(10))
        try await store.stopSession(reason: .command)
        time.advance(by: .seconds(10))

        let nanoseconds: Int64 = 1_000_000_000
        // Out of order, over both sessions, the gap between them, before and after.
        let times = [35, 25, 5, 15, -5, 0, 10, 20, 30, 6].map { start + $0 * nanoseconds }
        store.receive(accelerometer.batch(times), keepOutside: true)
        store.receive(location.batch(times), keepOutside: false)
        try await store.flush()

        let sessions = try await store.sessions()
        #expect(sessions.map(\.id) == [first, second])
        #expect(sessions[0].samples == [accelerometer.name: 4, location.name: 4])
        #expect(sessions[1].samples == [accelerometer.name: 3, location.name: 3])
        #expect(try await store.makeReader().all(accelerometer.name).map(\.time) == times.sorted())
        #expect(try await store.makeReader().all(location.name).count == 7)
        #expect(
            try value(store.files.database, "SELECT count(*) FROM accelerometer WHERE _session IS NULL") == 3
        )
    }

    @Test("marks stand in the session that runs")
    func marks() async throws {
        let store = try await open()
        await #expect(throws: RecorderError.self) { try await store.mark("nothing runs") }

        let id = try await store.startSession(reason: .command)
        time.advance(by: .seconds(1))
        #expect(try await store.mark("door opened; DROP TABLE _marks") == id)

        let marks = try await store.makeReader().marks(ofSession: id)
        #expect(marks == [Mark(time: time.wall(), text: "door opened; DROP TABLE _marks")])
    }

    @Test("a durable batch is on the disk when the call returns, for another process too")
    func durable() async throws {
        let store = try await open()
        try await store.durably(mixed.one(time.at(0), .real(0.5), .integer(-3), .text("a|b"), .flag(true)))

        let text = try shell(
            "sqlite3",
            store.files.database,
            "SELECT real, count, word, flag, _session FROM \"mixed.one\""
        )
        #expect(text == "0.5|-3|a|b|1|\n")
    }

    @Test("batches of several streams are durable together, and a full buffer is told")
    func durableTogether() async throws {
        let store = try await open()
        try await store.durably([
            accelerometer.batch([time.at(0), time.at(1)]), location.batch([]), location.batch([time.at(2)]),
        ])
        #expect(try value(store.files.database, "SELECT count(*) FROM accelerometer") == 2)
        #expect(try value(store.files.database, "SELECT count(*) FROM location") == 1)

        let large = accelerometer.batch((0..<200_000).map { time.at(10 + Int64($0)) })
        await #expect(throws: RecorderError.self) { try await store.durably([location.batch([time.at(3)]), large]) }
        #expect(try value(store.files.database, "SELECT count(*) FROM accelerometer") == 2)
        try await store.durably([location.batch([time.at(4)])], keepOutside: false)
        #expect(try value(store.files.database, "SELECT count(*) FROM location") == 2)
    }

    @Test("a second writer is refused with the first one's process, readers are not")
    func oneWriter() async throws {
        let store = try await open()
        let id = try await store.startSession(reason: .command)

        let error = try await #require(throws: RecorderError.self) { _ = try await open() }
        #expect(error.description.contains("another feedbridge (process \(getpid())) records into it"))
        #expect(try await RecordingReader(folder: folder.path).session(id).state == .running)

        try await store.close()
        // Nobody writes any more: what the file calls running was interrupted.
        #expect(try await RecordingReader(folder: folder.path).session(id).state == .interrupted)
        let next = try await open()
        #expect(try await next.session(id).state == .interrupted)
    }

    @Test("a closed recorder says so and counts nothing as kept")
    func closed() async throws {
        let store = try await open()
        try await store.close()

        store.receive(accelerometer.batch([time.at(0)]), keepOutside: true)
        #expect(store.drops == [accelerometer.name: 1])
        await #expect(throws: RecorderError.self) { try await store.startSession(reason: .command) }
        await #expect(throws: RecorderError.self) { try await store.durably(accelerometer.batch([0])) }
    }

    @Test("no recordings are said with the path")
    func noRecordings() async throws {
        let reader = RecordingReader(folder: folder.path)
        let error = try await #require(throws: RecorderError.self) { _ = try await reader.sessions() }
        #expect(error.description.contains("\(folder.path)/recordings.sqlite does not exist"))
    }

    @Test("run commits after the interval, and once more when it is cancelled")
    func runs() async throws {
        let store = try await open()
        let running = Task { try await store.run() }
        // The wait for housekeeping.
        await time.untilSleeping(1)

        store.receive(accelerometer.batch([time.at(0)]), keepOutside: true)
        await time.untilSleeping(2)
        #expect(throws: SQLiteError.self) { try value(store.files.database, "SELECT count(*) FROM accelerometer") }
        time.advance(by: .milliseconds(200))
        // It has committed when it waits for the sync.
        await time.untilSleeping(2)
        #expect(try value(store.files.database, "SELECT count(*) FROM accelerometer") == 1)

        store.receive(accelerometer.batch([time.at(1)]), keepOutside: true)
        running.cancel()
        _ = await running.result
        #expect(try value(store.files.database, "SELECT count(*) FROM accelerometer") == 2)
    }

    @Test("a full buffer drops the newest, counts them a stream, and writes the count into the session")
    func countsDrops() async throws {
        var settings = RecorderStore.Settings()
        settings.bufferBytes = 20_000
        let store = try await RecorderStore.open(folder: folder.path, settings: settings, time: time)
        let id = try await store.startSession(reason: .command)

        store.receive(location.batch((0..<1000).map { time.at($0) }))
        await #expect(throws: RecorderError.self) {
            try await store.durably(location.batch((0..<1000).map { time.at($0) }))
        }
        store.receive(accelerometer.batch([time.at(0)]))
        try await store.flush()

        let session = try await store.session(id)
        #expect(store.drops == [location.name: 1000])
        #expect(session.drops == 1000 && session.dropped == [location.name: 1000])
        #expect(session.samples == [accelerometer.name: 1])
    }
}
