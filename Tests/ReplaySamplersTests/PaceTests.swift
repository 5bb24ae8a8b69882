import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import ReplaySamplers

@Suite("Pace of a replay", .timeLimit(.minutes(5))) struct PaceTests {
    private let directory = TemporaryDirectory()
    private let time = ManualTime()
    private let sink = CollectingSink()

    private func start(
        _ times: [Double],
        speed: ReplaySpeed = .ownPace,
        keepTime: Bool = false
    ) throws -> Task<Void, any Error> {
        let rows = times.enumerated().map { "\($0.element),\($0.offset)" }.joined(separator: "\n")
        let file = try directory.write("time_s,x\n\(rows)\n", to: "a.csv")
        let sampler = try ReplaySampler(
            ReplayConfiguration(stream: name("s"), file: file, speed: speed, keepTime: keepTime),
            time: time
        )
        let sink = sink
        return Task { try await sampler.run(into: sink) }
    }

    /// How many samples there are each time the replay sleeps, with the clock moved on by `step` in between.
    private func counts(_ steps: Int, _ step: Duration) async -> [Int] {
        var counts: [Int] = []
        for _ in 0..<steps {
            await time.untilSleeping()
            counts.append(sink.contents.count)
            time.advance(by: step)
        }
        return counts
    }

    @Test("the first sample comes at once with the time of now, the others at their own distance")
    func ownPace() async throws {
        let start = time.wall()
        let task = try self.start([500, 501, 501.5, 504])

        #expect(await counts(8, .milliseconds(500)) == [1, 1, 2, 3, 3, 3, 3, 3])
        try await task.value

        let offsets = sink.contents.samples(of: "s").map { ($0.time - start).inSeconds }
        #expect(offsets == [0, 1, 1.5, 4])
        #expect(sink.contents.words(of: "s") == ["ok", "silent"])
    }

    @Test("twice as fast: half the waiting, the same distances between the samples")
    func faster() async throws {
        let start = time.wall()
        let task = try self.start([10, 11, 12], speed: .times(2))

        #expect(await counts(2, .milliseconds(500)) == [1, 2])
        try await task.value

        #expect(sink.contents.samples(of: "s").map { ($0.time - start).inSeconds } == [0, 1, 2])
    }

    @Test("with keep_time samples have the file's times")
    func keepsTime() async throws {
        let task = try self.start([10, 11], keepTime: true)

        _ = await counts(1, .seconds(1))
        try await task.value

        #expect(sink.contents.samples(of: "s").map(\.time.seconds) == [10, 11])
    }

    @Test("as fast as possible does not wait, and does not drop when the receiver makes it wait")
    func asFastAsPossible() async throws {
        let task = try self.start((0..<20_000).map { Double($0) * 60 }, speed: .asFastAsPossible)

        try await task.value

        #expect(sink.contents.count == 20_000)
        #expect(time.wall() == ManualTime().wall())
    }

    @Test("at 100 Hz samples are handed over together, 50 times a second")
    func coalesces() async throws {
        // The last row is so far that the replay still sleeps when the others have come.
        let task = try self.start((0..<300).map { Double($0) / 100 } + [1_000])

        for _ in 0..<400 {
            await time.untilSleeping()
            if sink.contents.count == 300 { break }
            time.advance(by: .milliseconds(10))
        }
        task.cancel()
        _ = await task.result

        #expect(sink.contents.batches.count <= 152)
        #expect(sink.contents.samples(of: "s").map { $0.values[0].number } == (0..<300).map { Double($0) })
    }

    @Test("wakes are when a slow row is due, and at common instants for quick ones")
    func wakes() {
        func wake(_ due: Int64, _ last: Int64) -> Int64 {
            Pace.wake(for: BootInstant(nanoseconds: due), last: BootInstant(nanoseconds: last)).nanoseconds
        }
        #expect(wake(1_007_000_000, 1_000_000_000) == 1_020_000_000)
        #expect(wake(1_020_000_000, 1_010_000_000) == 1_020_000_000)
        #expect(wake(1_507_000_000, 1_000_000_000) == 1_507_000_000)
        #expect(wake(.max, .max - 1) == .max)
    }

    @Test("a file that begins again from zero goes on at its pace; one row out of place does not stop it")
    func jumpsBack() {
        func dues(_ times: [Double]) -> [Double] {
            var pace = Pace(speed: 1)
            return times.map { time in
                let due = pace.due(Timestamp(nanoseconds: Int64(time * 1e9)), now: BootInstant(nanoseconds: 0))
                return Double(due.nanoseconds) / 1e9
            }
        }
        #expect(dues([100, 101, 102, 0, 1, 2]) == [0, 1, 2, 2, 3, 4])
        #expect(dues([100, 101, 40, 102, 103]) == [0, 1, 1, 2, 3])
        #expect(dues([100, 101, 100.5, 102]) == [0, 1, 0.5, 2])
    }

    @Test("cancelling ends it while it waits")
    func cancels() async throws {
        let task = try self.start([0, 1_000])
        await time.untilSleeping()

        task.cancel()
        let outcome = await task.result

        #expect(throws: CancellationError.self) { try outcome.get() }
        #expect(sink.contents.count == 1)
    }

    @Test("the words of the configuration become speeds")
    func speeds() {
        #expect(ReplaySpeed(0) == .asFastAsPossible)
        #expect(ReplaySpeed("max") == .asFastAsPossible)
        #expect(ReplaySpeed(2.5) == .times(2.5))
        #expect(ReplaySpeed(-1) == nil)
        #expect(ReplaySpeed(.nan) == nil)
        #expect(ReplaySpeed("quick") == nil)
    }
}
