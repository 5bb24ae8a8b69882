import Diagnostics
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("Starting and stopping samplers", .timeLimit(.minutes(1)))
struct SamplerRunnerTests {
    private func runner(_ world: FlowWorld) -> SamplerRunner {
        SamplerRunner(flow: world.flow, time: world.time, log: world.talk.log)
    }

    @Test("those with always run from the beginning, the others while the switch is on")
    func always() async throws {
        let world = try await FlowWorld()
        let runner = runner(world)
        let (steady, switched) = (ScriptedSampler("steady"), ScriptedSampler("switched"))

        await runner.replace(with: [(.test(always: true), steady), (.test(), switched)])
        try await until("the steady one runs") { steady.isRunning }
        #expect(switched.runs == 0)
        #expect(await runner.running() == [Name(mapping: "steady")])

        await runner.startRecording()
        try await until("the other one runs") { switched.isRunning }
        await runner.stopRecording()
        #expect(!switched.isRunning)
        #expect(steady.isRunning)
        await runner.stopAll()
        #expect(!steady.isRunning)
    }

    @Test("a start right after a stop waits for the end: a sampler never runs twice at once")
    func restarts() async throws {
        let world = try await FlowWorld()
        let runner = runner(world)
        let sampler = ScriptedSampler()
        await runner.replace(with: [(.test(), sampler)])

        for _ in 0..<50 {
            await runner.startRecording()
            async let stopped: Void = runner.stopRecording()
            await runner.startRecording()
            await stopped
        }
        await runner.startRecording()
        try await until("it runs") { sampler.isRunning }

        #expect(sampler.mostAtOnce == 1)
        await runner.stopAll()
        #expect(!sampler.isRunning)
    }

    @Test("a sampler that fails is said to, is started again after ten seconds, and is well when samples come")
    func fails() async throws {
        let world = try await FlowWorld()
        let runner = runner(world)
        let sampler = ScriptedSampler(failures: 1)
        await runner.replace(with: [(.test(always: true), sampler)])
        await world.time.untilSleeping()
        let name = sampler.streams[0].name
        #expect(world.flow.monitors()[name]?.condition == .error("the cable is broken"))
        #expect(world.talk.text.contains("the cable is broken"))

        world.time.advance(by: .milliseconds(9999))
        #expect(sampler.runs == 1)
        world.time.advance(by: .milliseconds(1))

        try await until("its samples come") { world.flow.monitors()[name]?.good == 1 }
        #expect(world.flow.monitors()[name]?.condition == .ok)
        await runner.stopAll()
    }

    @Test("stopping does not wait for the pause of a sampler that failed")
    func stopsWhilePausing() async throws {
        let world = try await FlowWorld()
        let runner = runner(world)
        await runner.replace(with: [(.test(always: true), ScriptedSampler(failures: 9))])
        await world.time.untilSleeping()

        await runner.stopAll()
    }

    @Test("changed settings keep what is the same running, wherever it stands in the file, and restart the rest")
    func replaces() async throws {
        let world = try await FlowWorld()
        let runner = runner(world)
        let (same, old, new) = (ScriptedSampler("same"), ScriptedSampler("other"), ScriptedSampler("other"))
        await runner.replace(with: [
            (.test(line: 1, always: true), same), (.test(line: 5, every: .seconds(5), always: true), old),
        ])
        try await until("both run") { same.isRunning && old.isRunning }

        await runner.replace(with: [
            (.test(line: 1, every: .seconds(7), always: true), new),
            (.test(line: 9, always: true), ScriptedSampler("same")),
        ])

        try await until("the new one runs") { new.isRunning }
        #expect(same.runs == 1)
        #expect(same.isRunning)
        #expect(!old.isRunning)
        // The stream has its old name, and what is asked of it now.
        #expect(world.flow.monitors()[Name(mapping: "other")]?.askedHertz == 1.0 / 7)
        await runner.replace(with: [])
        #expect(!same.isRunning)
        #expect(world.flow.monitors().isEmpty)
    }
}
