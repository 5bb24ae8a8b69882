import DataPoints
import Diagnostics
import Foundation
import Outbox
import TestKit
import Testing

@Suite("Points and a wrong clock", .timeLimit(.minutes(1)))
struct ClockTests {
    let folder = TemporaryDirectory()

    @Test("points of 1970 wait, and get their right time when the clock is right")
    func fixesUp() async throws {
        let time = ManualTime(wall: Timestamp(nanoseconds: 5_000_000_000))
        let store = try await OutboxStore.open(folder: folder.path, time: time)
        store.append([time.point(load, 1, after: -2)])
        // A receiver's own clock is not wrong because ours is.
        let satellite = Timestamp(nanoseconds: 1_780_000_000_000_000_000)
        store.append([DataPoint(feed: load, value: "gps", createdAt: satellite)])
        time.advance(by: .seconds(10))
        store.append([time.point(load, 2)])
        try await store.flush()
        #expect(try await store.points(of: load).map(\.point.value) == ["gps"])
        #expect(store.statistics.total.states == [.waiting: 1, .untimed: 2])

        time.advance(by: .seconds(5))
        let right = Timestamp(nanoseconds: 1_790_000_000_000_000_000)
        time.setWall(right)
        store.setClock(isRight: true)

        try await store.flush()
        let points = try await store.points(of: load)
        #expect(points.map(\.id) == [1, 2, 3])
        #expect(points.map(\.point.createdAt) == [right - .seconds(17), satellite, right - .seconds(5)])
        store.append([time.point(load, 3)])
        try await store.flush()
        #expect(try await store.points(of: load).count == 4)
    }

    @Test("points of a boot that never had a right clock become dead letters: time unknown")
    func timeUnknown() async throws {
        let time = ManualTime(wall: Timestamp(nanoseconds: 5_000_000_000))
        var store = try await OutboxStore.open(folder: folder.path, time: time)
        store.append([time.point(load, 1), time.point(load, 2)])
        try await store.close()
        // The same boot goes on: there is still hope.
        store = try await OutboxStore.open(folder: folder.path, time: time)
        #expect(store.statistics.total.states == [.untimed: 2])
        try await store.close()
        try sqlite(folder.file("outbox.sqlite"), "UPDATE boots SET boot_id = 'an earlier boot'")

        store = try await OutboxStore.open(folder: folder.path, time: time)

        #expect(store.statistics.total.refused == 2 && store.statistics.total.isBalanced)
        let letters = try await OutboxReader(folder: folder.path).deadLetters()
        #expect(letters.map(\.reason) == ["time unknown", "time unknown"])
        // Nobody can say when they were: sending them again would be a lie.
        #expect(try await store.retryAll() == 0)
    }

    @Test("a step of the wall clock by ten years makes no point too old")
    func jumps() async throws {
        let time = ManualTime()
        let store = try await OutboxStore.open(folder: folder.path, time: time)
        store.setClock(isRight: true)
        store.append([time.point(load, 1)])
        try await store.flush()
        time.setWall(time.wall() + .seconds(10 * 365 * 86_400))
        try await store.expire()
        #expect(store.statistics.total.pending == 1)
        time.setWall(time.wall() - .seconds(11 * 365 * 86_400))
        try await store.expire()
        #expect(store.statistics.total.pending == 1)
    }

    @Test("points older than the limit leave, counted by feed, and those being sent stay")
    func expires() async throws {
        let time = ManualTime()
        let store = try await OutboxStore.open(folder: folder.path, time: time)
        store.setClock(isRight: true)
        store.append([time.point(load, "import", after: -30 * 86_400), time.point(load, 1), time.point(door, 2)])
        try await store.flush()
        #expect(store.statistics.total.evictedBy == [.age: 1])
        time.advance(by: .seconds(28 * 86_400))
        store.append([time.point(load, 3)])
        try await store.markSending([2])
        try await store.expire()
        #expect(store.statistics.total.pending == 3)

        time.advance(by: .seconds(86_401))
        try await store.expire()

        #expect(
            store.statistics.feeds[load]?.states == [.waiting: 1, .sending: 1]
                || store.statistics.feeds[door]?.pending == 1
        )
        #expect(store.statistics.total.evictedBy == [.age: 2] && store.statistics.total.isBalanced)
    }

    @Test("a wall clock that is set a day back or ten years ahead gives no point a wrong time, not even for a moment")
    func steps() async throws {
        let time = ManualTime()
        let store = try await OutboxStore.open(folder: folder.path, time: time)
        store.setClock(isRight: true)
        let right = time.wall()
        var expected: [Timestamp] = []
        for (number, step) in ([-86_400, 0, 315_360_000, 0] as [Double]).enumerated() {
            // Made before the step, and taken a moment after it.
            let late = time.point(load, "late \(number)")
            expected.append(late.createdAt.isNear(right) ? late.createdAt : right + .seconds(Double(number) * 10))
            time.setWall(right + .seconds(Double(number) * 10 + step))
            store.append([late])
            store.append([time.point(load, "new \(number)")])
            expected.append(right + .seconds(Double(number) * 10))
            try await store.flush()
            time.advance(by: .seconds(10))
        }
        // A receiver's own clock is not wrong because ours is.
        let satellite = right - .seconds(5 * 86_400)
        time.setWall(time.wall() - .seconds(86_400))
        store.append([DataPoint(feed: load, value: "gps", createdAt: satellite)])
        try await store.flush()

        let points = try await store.points(of: load)
        #expect(points.map(\.point.createdAt) == expected + [satellite])
        #expect(store.statistics.total.states == [.waiting: 9])
    }

    @Test("while the clock is of 1970 and somebody else tells the time, points have it at once and none is too old")
    func toldTime() async throws {
        let time = ManualTime(wall: Timestamp(nanoseconds: 5_000_000_000))
        let store = try await OutboxStore.open(folder: folder.path, time: time)
        store.append([time.point(load, 1, after: -2)])
        try await store.flush()
        #expect(store.statistics.total.states == [.untimed: 1])
        time.advance(by: .seconds(10))
        let right = Timestamp(nanoseconds: 1_790_000_000_000_000_000)

        store.setTime(right)
        store.append([time.point(load, 2)])
        try await store.flush()

        #expect(try await store.points(of: load).map(\.point.createdAt) == [right - .seconds(12), right])
        time.advance(by: .seconds(5))
        time.setWall(right + .seconds(5))
        store.append([time.point(load, 3)])
        try await store.flush()
        #expect(try await store.points(of: load).last?.point.createdAt == right + .seconds(5))
        #expect(store.statistics.total.evicted == 0 && store.statistics.total.isBalanced)
    }
}

extension Timestamp {
    fileprivate func isNear(_ other: Timestamp) -> Bool {
        let gap = self - other
        return gap > .seconds(-3600) && gap < .seconds(3600)
    }
}
