import Diagnostics
import Feeds
import Recorder
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("Derivations in the bridge", .timeLimit(.minutes(5)))
struct DerivationTests {
    private static let head = """
        name = "test"
        [account]
        username = "ada"
        [switch]

        """

    private func configuration(_ text: String) throws -> Configuration {
        try Configuration(parsing: Self.head + text, file: "feedbridge.toml")
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try configuration(text).makeDerivations()
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { "\($0.line): \($0.text)" }
        } catch {
            return ["\(error)"]
        }
    }

    private static let fence = """
        [[geofence]]
        name = "home"
        lat = 40.4168
        lon = -3.7038
        radius = 150

        [[rule]]
        stream = "geofence"
        field = "event"
        feed = "home"
        every = "1 s"
        on_change = true
        always = true
        """

    private func world(_ configuration: Configuration) async throws -> FlowWorld {
        let world = try await FlowWorld(rules: configuration.rules.map(\.rule))
        world.flow.replace(derivations: try configuration.makeDerivations(), written: configuration.derivations)
        return world
    }

    /// A fix at the fence's middle, or `metres` north of it.
    private func fix(_ world: FlowWorld, _ metres: Double) throws -> SampleBatch {
        let name = try #require(Name("location"))
        let stream = Stream(name, fields: try #require(KnownStreams.fields(of: name)))
        return SampleBatch(
            stream,
            arrival: world.time.boot(),
            time: world.time.wall(),
            [.real(40.4168 + metres / 111_200), .real(-3.7038), .missing, .real(5), .missing, .missing]
        )
    }

    @Test("who comes home is published, and recorded with the fixes that say so")
    func publishesAndRecords() async throws {
        let configuration = try configuration(Self.fence)
        let world = try await world(configuration)
        let session = try await world.recorder.startSession(reason: .command)
        for second in 0..<60 {
            world.flow.receive(try fix(world, second < 20 ? 1000 - Double(second) * 20 : 0))
            world.time.advance(by: .seconds(1))
            world.flow.tick()
        }
        world.flow.finish()
        #expect(try await world.points().map(\.value) == ["enter"])
        let samples = try await world.recorder.session(session).samples
        #expect(samples[try #require(Name("geofence"))] == 1)
        #expect(samples[try #require(Name("location"))] == 60)
    }

    @Test("a place is remembered over a restart: coming home is not said twice")
    func remembers() async throws {
        let configuration = try configuration(Self.fence)
        var states: [String: [UInt8]] = [:]
        for round in 0..<2 {
            let world = try await world(configuration)
            world.flow.replace(derivations: [], written: [])
            world.flow.replace(
                derivations: try configuration.makeDerivations(),
                written: configuration.derivations,
                states: states
            )
            for _ in 0..<60 {
                world.flow.receive(try fix(world, 0))
                world.time.advance(by: .seconds(1))
                world.flow.tick()
            }
            world.flow.finish()
            #expect(try await world.points().count == 1 - round)
            states = world.flow.derivationStates
        }
    }

    @Test("what always runs is kept outside sessions, and keeps its sources running")
    func keeps() async throws {
        let configuration = try configuration("[[derivation]]\nkind = \"orientation\"\nalways = true\n")
        let derivations = try configuration.makeDerivations()
        #expect(DerivedStreams.needed(derivations, configuration.derivations).map(\.text) == ["accelerometer"])
        let world = try await world(configuration)
        let name = try #require(Name("accelerometer"))
        let stream = Stream(name, fields: try #require(KnownStreams.fields(of: name)))
        for _ in 0..<200 {
            world.flow.receive(
                SampleBatch(
                    stream,
                    arrival: world.time.boot(),
                    time: world.time.wall(),
                    [.real(0), .real(0), .real(9.81)]
                )
            )
            world.time.advance(by: .milliseconds(10))
        }
        try await world.recorder.flush()
        let streams = try await world.recorder.makeReader().streams()
        #expect(streams.map(\.name.text) == ["orientation"])
    }

    @Test("a running derivation goes on when the configuration is read again and it did not change")
    func goesOn() async throws {
        let configuration = try configuration(Self.fence)
        let world = try await world(configuration)
        for _ in 0..<60 {
            world.flow.receive(try fix(world, 0))
            world.time.advance(by: .seconds(1))
        }
        let before = world.flow.derivationStates
        world.flow.replace(derivations: try configuration.makeDerivations(), written: configuration.derivations)
        #expect(world.flow.derivationStates == before)
        #expect(!before.isEmpty)
    }

    @Test("wrong settings are named with their place, and the nearest right word")
    func mistakes() {
        #expect(problems("[[derivation]]\nkind = \"step\"\n").first?.contains("did you mean \"steps\"?") == true)
        #expect(problems("[[derivation]]\n").first?.contains("kind is missing") == true)
        #expect(
            problems("[[derivation]]\nkind = \"steps\"\nheight = 20\n").first?.hasPrefix("5: height is \"20\"") == true
        )
        #expect(problems("[[derivation]]\nkind = \"steps\"\nhieght = 1.8\n").first?.contains("unknown key") == true)
        #expect(
            problems("[[geofence]]\nname = \"home\"\nlat = 1\nlon = 2\n").first?.contains("radius is missing") == true
        )
        let twice = "[[geofence]]\nname = \"a\"\nlat = 1\nlon = 2\nradius = 100\n"
        #expect(problems(twice + twice).first?.contains("two fences") == true)
    }
}

@Suite("Steps of an interval")
struct StepTotalsTests {
    private func totals(_ samples: [(seconds: Double, count: Int64, cadence: Double, metres: Double)]) -> StepTotals {
        var totals = StepTotals()
        for sample in samples {
            totals.add(
                Timestamp(seconds: 1_700_000_000 + sample.seconds),
                count: sample.count,
                cadence: sample.cadence,
                distance: sample.metres
            )
        }
        return totals
    }

    @Test("counts that go on are told by their growth, pauses are no activity, and a counter may begin again")
    func growth() {
        let walk = totals([
            (0, 101, 2, 80), (0.5, 102, 2, 80.8), (1, 103, 2, 81.6), (4, 103, 0, 81.6), (60, 104, 2, 82),
        ])
        #expect(walk.steps == 4)
        #expect(abs(walk.distance - 2) < 1e-9)
        #expect(abs(walk.active - 1) < 1e-6)
        #expect(totals([(0, 101, 2, 80), (1, 1, 2, 0.8), (2, 2, 2, 1.6)]).steps == 3)
        #expect(totals([(0, 101, 0, 80), (1, 102, 2, 81)]).steps == 1)
        #expect(totals([]).steps == 0)
    }
}
