import Diagnostics
import FastJSON
import Samples
import TestKit

@testable import PhoneSamplers

/// The moment of most tests: 2026-01-01 00:00 UTC.
let today = Timestamp(nanoseconds: 1_767_225_600_000_000_000)

/// A message that came at `today` unless said otherwise.
func message(_ text: String, topic: String = "", wall: Timestamp = today, at seconds: Int64 = 1) -> PushMessage {
    PushMessage(
        body: Array(text.utf8),
        topic: topic,
        arrival: BootInstant(nanoseconds: seconds * 1_000_000_000),
        wall: wall
    )
}

/// What a decoder has found, for a test to look at.
struct Found {
    var gathering: SampleGathering
    var reply: PushReply

    /// Time in ns and values of each sample of a stream.
    func samples(_ stream: String) -> [(time: Int64, values: [Value])] {
        gathering.batches.filter { $0.stream.name.text == stream }.flatMap { batch in
            (0..<batch.count).map { (batch.times[$0].nanoseconds, Array(batch.sample($0))) }
        }
    }

    /// The values of the only sample of a stream; nil when there is another number of them.
    func only(_ stream: String) -> [Value]? {
        let samples = samples(stream)
        return samples.count == 1 ? samples[0].values : nil
    }

    var streams: [String] { gathering.batches.map(\.stream.name.text) }
    var rejected: Int { gathering.rejects.reduce(0) { $0 + $1.count } }
    func duplicates(_ stream: String) -> Int { gathering.duplicates[Name(mapping: stream)] ?? 0 }
}

/// A decoder with its memory of what was stored.
struct Decoding<Decoder: PushDecoder> {
    var decoder: Decoder
    var seen = RecentKeys()

    init(_ decoder: Decoder) {
        self.decoder = decoder
    }

    mutating func take(_ message: PushMessage) throws(PushRefusal) -> Found {
        var gathering = SampleGathering(message, seen: seen)
        let reply = try decoder.decode(message, into: &gathering)
        gathering.finish()
        for key in gathering.keys { seen.insert(key) }
        return Found(gathering: gathering, reply: reply)
    }
}

/// A sink whose disk and switch a test rules.
final class PhoneSink: SampleSink {
    struct Full: Error, CustomStringConvertible {
        let description = "the disk is full"
    }

    struct State {
        var stored: [(batch: SampleBatch, keepOutside: Bool, durably: Bool)] = []
        var skipped = 0
        var rejected = 0
        var isRecording = true
        var isFull = false
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var waiters: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    let state = Guarded(State())

    var isRecording: Bool { state.withLock { $0.isRecording } }
    var samples: Int { state.withLock { $0.stored.reduce(0) { $0 + $1.batch.count } } }

    func receive(_ batch: SampleBatch) {}
    func report(_ condition: SourceCondition, of stream: Name) {}
    func reject(_ count: Int, of stream: Name, example: String) { state.withLock { $0.rejected += count } }
    func skip(_ count: Int, of stream: Name) { state.withLock { $0.skipped += count } }

    func store(_ batches: [SampleBatch], keepOutside: Bool, durably: Bool) async throws {
        await withCheckedContinuation { continuation in
            let (goes, waiters) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                guard state.isHeld else { return (true, []) }
                state.held.append(continuation)
                let ready = state.waiters.filter { $0.0 <= state.held.count }.map(\.1)
                state.waiters.removeAll { $0.0 <= state.held.count }
                return (false, ready)
            }
            for waiter in waiters { waiter.resume() }
            if goes { continuation.resume() }
        }
        try state.withLock { state throws(Full) in
            guard !state.isFull else { throw Full() }
            state.stored += batches.map { ($0, keepOutside, durably) }
        }
    }

    /// Waits until so many stores are held up.
    func untilHeld(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets all that is held go on.
    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for one in held { one.resume() }
    }
}

/// A sampler that runs, with its sink.
struct RunningSampler {
    let sampler: PushSampler
    let sink = PhoneSink()
    private let task: Task<Void, any Error>

    init(_ configuration: PushConfiguration, reserved: Set<Name> = []) async {
        let sampler = PushSampler(configuration, reserved: reserved)
        self.sampler = sampler
        task = Task { [sink] in try await sampler.run(into: sink) }
        while await !sampler.isRunning { await Task.yield() }
    }

    func stop() { task.cancel() }
}
