import Diagnostics
import Samples
import Testing

@testable import PhoneSamplers

@Suite("A source that sends by itself", .timeLimit(.minutes(5))) struct PushSamplerTests {
    private let place =
        #"{"locations":[{"geometry":{"coordinates":[2,1]},"properties":{"timestamp":"2025-12-31T10:00:00Z"}}]}"#

    @Test("it is answered after the store, and not before")
    func answerAfterStore() async throws {
        let running = await RunningSampler(PushConfiguration(.overland))
        running.sink.state.withLock { $0.isHeld = true }
        let isAnswered = Guarded(false)

        let answer = Task { [place] in
            let reply = try await running.sampler.take(message(place))
            isAnswered.withLock { $0 = true }
            return reply
        }
        await running.sink.untilHeld(1)
        #expect(isAnswered.withLock { $0 } == false)
        running.sink.release()

        #expect(try await answer.value == .ok)
        #expect(running.sink.samples == 1)
        #expect(running.sink.state.withLock { $0.stored.first?.durably } == true)
    }

    @Test("what could not be stored is refused, and stored when it is sent again")
    func failedStore() async throws {
        let running = await RunningSampler(PushConfiguration(.overland))
        running.sink.state.withLock { $0.isFull = true }

        let refusal = await #expect(throws: PushRefusal.self) { try await running.sampler.take(message(place)) }
        #expect(refusal?.status == 503)
        #expect(refusal?.retryAfter != nil)
        running.sink.state.withLock { $0.isFull = false }
        _ = try await running.sampler.take(message(place))
        _ = try await running.sampler.take(message(place))

        #expect(running.sink.samples == 1)
        #expect(running.sink.state.withLock { $0.skipped } == 1)
    }

    @Test("the same thing twice at once waits for the first: stored once, and both answered")
    func twiceAtOnce() async throws {
        let running = await RunningSampler(PushConfiguration(.overland))
        running.sink.state.withLock { $0.isHeld = true }

        let first = Task { [place] in try await running.sampler.take(message(place)) }
        await running.sink.untilHeld(1)
        let second = Task { [place] in try await running.sampler.take(message(place)) }
        while await running.sampler.waiting == 0 { await Task.yield() }
        running.sink.release()

        #expect(try await first.value == .ok)
        #expect(try await second.value == .ok)
        #expect(running.sink.samples == 1)
    }

    @Test("when the first of two at once cannot be stored, the second is")
    func firstFails() async throws {
        let running = await RunningSampler(PushConfiguration(.overland))
        running.sink.state.withLock {
            $0.isHeld = true
            $0.isFull = true
        }
        let first = Task { [place] in try await running.sampler.take(message(place)) }
        await running.sink.untilHeld(1)
        let second = Task { [place] in try await running.sampler.take(message(place)) }
        while await running.sampler.waiting == 0 { await Task.yield() }

        running.sink.release()
        await #expect(throws: PushRefusal.self) { try await first.value }
        // The disk is full for the first one; by its second look the phone may have found room.
        running.sink.state.withLock { $0.isFull = false }
        _ = try? await second.value
        _ = try await running.sampler.take(message(place))

        #expect(running.sink.samples == 1)
    }

    @Test(
        "while the switch is off: kept, thrown away, or refused with a time to come again",
        arguments: WhenOff.allCases
    )
    func whenOff(_ whenOff: WhenOff) async throws {
        let running = await RunningSampler(PushConfiguration(.overland, whenOff: whenOff))
        running.sink.state.withLock { $0.isRecording = false }

        switch whenOff {
        case .keep, .discard:
            _ = try await running.sampler.take(message(place))
            #expect(running.sink.state.withLock { $0.stored.first?.keepOutside } == (whenOff == .keep))
        case .refuse:
            let refusal = await #expect(throws: PushRefusal.self) { try await running.sampler.take(message(place)) }
            #expect(refusal?.status == 503)
            #expect(refusal?.retryAfter == .seconds(60))
            #expect(running.sink.samples == 0)
        }
    }

    @Test("it starts and stops any number of times, and takes nothing in between")
    func restarts() async throws {
        let sampler = PushSampler(PushConfiguration(.overland))
        let sink = PhoneSink()
        for _ in 0..<3 {
            await #expect(throws: PushRefusal.self) { try await sampler.take(message(place)) }
            let run = Task { try await sampler.run(into: sink) }
            while await !sampler.isRunning { await Task.yield() }
            _ = try await sampler.take(message(place))
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
        }

        #expect(sink.samples == 1)
    }

    @Test("its newest samples can be read, those of streams that it made up included")
    func readings() async throws {
        let running = await RunningSampler(PushConfiguration(.json(JSONMapping())))
        #expect(await running.sampler.readings().isEmpty)

        _ = try await running.sampler.take(message(#"{"v":1}"#, topic: "made.up"))
        _ = try await running.sampler.take(message(#"{"v":2}"#, topic: "made.up"))

        let readings = await running.sampler.readings()
        #expect(readings.map(\.stream.name.text) == ["made.up"])
        #expect(readings.first?.values == [.real(2)])
    }

    @Test("a name makes the streams of a second device its own")
    func names() async throws {
        let running = await RunningSampler(PushConfiguration(.overland, name: Name(mapping: "ada")))

        _ = try await running.sampler.take(message(place))

        #expect(running.sampler.streams.map(\.name.text) == ["location.ada", "battery.ada", "activity.ada"])
        #expect(running.sink.state.withLock { $0.stored.first?.batch.stream.name.text } == "location.ada")
    }

    @Test("a clock that was never set does not make a phone's time impossible")
    func wrongClock() async throws {
        let running = await RunningSampler(PushConfiguration(.overland))

        _ = try await running.sampler.take(message(place, wall: Timestamp(nanoseconds: 0)))

        #expect(running.sink.samples == 1)
    }
}
