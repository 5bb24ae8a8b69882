import DataPoints
import Diagnostics
import Feeds
import Publisher
import Recorder
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("The data's way", .timeLimit(.minutes(1)))
struct DataFlowTests {
    private let load = stream("host.load", "one_minute")

    private func rule(_ name: String = "load", always: Bool = false) throws -> Rule {
        Rule(
            try #require(FieldReference("host.load.one_minute")),
            feed: feed(name),
            reduction: .mean,
            every: .seconds(1),
            always: always
        )
    }

    @Test("every batch reaches the recorder and the rules")
    func everywhere() async throws {
        let world = try await FlowWorld(rules: [try rule()])
        let id = try await world.recorder.startSession(reason: .command)
        world.flow.setRecording(true)

        world.flow.receive(world.batch(load, 150))
        world.flow.finish()

        #expect(try await world.recorder.session(id).samples == [load.name: 150])
        #expect(world.accepted == 2)
        let first = try #require(try await world.points().first)
        #expect(first.feed == feed("load"))
        #expect(world.flow.monitors()[load.name]?.good == 150)
    }

    @Test("while the switch is off only rules with always publish, and nothing is recorded")
    func whileOff() async throws {
        let world = try await FlowWorld(rules: [try rule("quiet"), try rule("busy", always: true)])

        world.flow.receive(world.batch(load, 10))
        world.flow.setRecording(true)
        world.flow.setRecording(false)
        world.flow.finish()

        #expect(world.accepted == 1)
        #expect(try await world.points().map(\.feed) == [feed("busy")])
        #expect(try await world.recorder.sessions().isEmpty)
    }

    @Test("a full buffer makes nobody wait: what finds no room is dropped and counted, and the rules still see it")
    func drops() async throws {
        let world = try await FlowWorld(rules: [try rule(always: true)], bufferBytes: 1000)
        let id = try await world.recorder.startSession(reason: .command)

        // Each batch is larger than the whole buffer.
        for _ in 0..<50 {
            world.flow.receive(world.batch(load, 100))
            world.time.advance(by: .seconds(1))
        }

        #expect(world.flow.drops == [load.name: 5000])
        #expect(world.flow.monitors()[load.name]?.good == 5000)
        #expect(world.accepted == 49)
        #expect(try await world.recorder.session(id).drops == 5000)
    }

    @Test("who can wait for room does so for two seconds at most")
    func waitsForRoom() async throws {
        // A buffer that never has room.
        let world = try await FlowWorld(bufferBytes: 1)
        let waiting = Task { try await world.flow.waitForRoom() }

        for _ in 0..<200 {
            await world.time.untilSleeping()
            world.time.advance(by: .milliseconds(10))
        }

        try await waiting.value
        #expect(!world.recorder.hasRoom)
    }

    @Test("a window whose time has passed is published though its stream fell silent")
    func silence() async throws {
        let world = try await FlowWorld(rules: [try rule(always: true)])
        world.flow.receive(world.batch(load, 10))
        world.flow.tick()
        #expect(world.accepted == 0)

        world.time.advance(by: .seconds(60))
        world.flow.tick()

        #expect(world.accepted == 1)
    }

    @Test("a condition is said once, and unusable input with one example a minute")
    func says() async throws {
        let world = try await FlowWorld()
        world.flow.declare([load], askedHertz: 1)

        for _ in 0..<3 { world.flow.report(.missing("unplugged"), of: load.name) }
        for _ in 0..<3 { world.flow.reject(1, of: load.name, example: "line 7") }

        #expect(world.talk.text.split(separator: "\n").count == 2)
        #expect(world.talk.text.contains("stream host.load is missing: unplugged"))
        #expect(world.flow.monitors()[load.name]?.bad == 3)
    }

    @Test("changed rules keep the open window of a rule that is the same")
    func replaced() async throws {
        let world = try await FlowWorld(rules: [try rule(always: true)])
        world.flow.receive(world.batch(load, 50))

        try world.flow.replace(rules: [try rule(always: true), try rule("more", always: true)], streams: [load])
        world.time.advance(by: .milliseconds(500))
        world.flow.receive(world.batch(load, 50))
        world.flow.finish()

        // The mean of 0..<50 and 0..<50, not of the second half alone: both halves lie in one window.
        var points: [String: String] = [:]
        for point in try await world.points() { points[point.feed.text] = point.value }
        #expect(points["load"] == "24.5")
        #expect(points["more"] == "24.5")
        #expect(world.accepted == 2)
    }
}
