import Diagnostics
import Samples
import TestKit
import Testing

@testable import Recorder

@Suite("A wrong clock", .timeLimit(.minutes(5)))
struct ClockTests {
    let folder = TemporaryDirectory()

    @Test("what was recorded with it is marked, and put right when the offset is known")
    func fixesUp() async throws {
        let time = ManualTime(wall: Timestamp(nanoseconds: 5_000_000_000))
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        store.setClock(isRight: false)
        store.receive(location.batch([1_000_000_000, 1_000_000_000]), keepOutside: true)
        let id = try await store.startSession(reason: .command)
        store.receive(accelerometer.batch([time.at(0), time.at(0), time.at(1), time.at(2)]))
        try await store.mark("early")
        #expect(try await store.session(id).isUnsynchronised)

        let right: Int64 = 1_790_000_000_000_000_000
        let offset = Duration.nanoseconds(right - 5_000_000_000)
        time.setWall(Timestamp(nanoseconds: right))
        store.setClock(isRight: true)
        store.receive(accelerometer.batch([time.at(1), time.at(3)]))
        try await store.fixUp(bootID: BootID.current, offset: offset)
        store.receive(accelerometer.batch([time.at(4)]))
        time.advance(by: .seconds(1))
        try await store.stopSession(reason: .command)

        let session = try await store.session(id)
        #expect(session.start.nanoseconds == right && session.end?.nanoseconds == right + 1_000_000_000)
        #expect(!session.isUnsynchronised && session.samples == [accelerometer.name: 7])
        let reader = store.makeReader()
        #expect(
            try await reader.all(accelerometer.name).map { $0.time - right }
                == [0, 0, 1, 1, 2, 3, 4].map { $0 * 1_000_000 }
        )
        #expect(try await reader.all(location.name).map { $0.time - right } == [-4_000_000_000, -4_000_000_000])
        #expect(try await reader.marks(ofSession: id).map(\.time.nanoseconds) == [right])
        let stream = try await reader.streams(inSession: id)[0]
        #expect(stream.first?.nanoseconds == right && stream.last?.nanoseconds == right + 4_000_000)

        // A second time changes nothing, nor does another boot.
        try await store.fixUp(bootID: BootID.current, offset: offset)
        try await store.fixUp(bootID: "another", offset: offset)
        #expect(try await reader.all(accelerometer.name).last?.time == right + 4_000_000)
    }

    @Test("a small step over samples that are there already loses none")
    func smallStep() async throws {
        let time = ManualTime()
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let base = time.at(0)
        store.setClock(isRight: false)
        store.receive(accelerometer.batch((0..<100).map { base + $0 }), keepOutside: true)
        store.setClock(isRight: true)
        store.receive(accelerometer.batch((50..<150).map { base + $0 }), keepOutside: true)

        try await store.fixUp(bootID: BootID.current, offset: .nanoseconds(50))

        let times = try await store.makeReader().all(accelerometer.name).map { $0.time - base }
        #expect(times.sorted() == (50..<150).flatMap { [$0, $0] })
    }

    @Test("1970 at boot: what is recorded is put right by itself when the clock is set, also what comes a moment late")
    func epoch() async throws {
        let time = ManualTime(wall: Timestamp(nanoseconds: 5_000_000_000))
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let id = try await store.startSession(reason: .command)
        store.receive(accelerometer.batch([time.at(0), time.at(10)]))
        // A phone's time is its own.
        let phone: Int64 = 1_789_999_999_000_000_000
        store.receive(location.batch([phone]), keepOutside: true)
        try await store.flush()
        #expect(try await store.session(id).isUnsynchronised)
        time.advance(by: .seconds(60))
        let late = accelerometer.batch([time.at(-1)])

        let right: Int64 = 1_790_000_000_000_000_000
        time.setWall(Timestamp(nanoseconds: right))
        store.receive(late)
        store.receive(accelerometer.batch([right + 5]))
        try await store.flush()
        await store.fixUpTimes()

        let session = try await store.session(id)
        #expect(session.start.nanoseconds == right - 60_000_000_000 && !session.isUnsynchronised)
        #expect(session.samples == [accelerometer.name: 4, location.name: 1])
        let reader = store.makeReader()
        #expect(
            try await reader.all(accelerometer.name).map { $0.time - right }
                == [-60_000_000_000, -59_990_000_000, -1_000_000, 5]
        )
        #expect(try await reader.all(location.name).map(\.time) == [phone])
        // Once and no more.
        store.setClock(isRight: true)
        await store.fixUpTimes()
        #expect(try await reader.all(accelerometer.name).last?.time == right + 5)
    }
}
