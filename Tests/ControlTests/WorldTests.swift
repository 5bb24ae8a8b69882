import Control
import Testing

@Suite("The switch in a world that goes wrong", .timeLimit(.minutes(5)))
struct WorldTests {
    private static let words = ["ON", "OFF", "1", "{\"value\":\"off\"}", "banana"]

    /// Lets people and faults do `count` things.
    private func live(_ world: inout World, acts count: Int, locals: [Int], pause: ClosedRange<Double>) {
        for _ in 0..<count {
            world.run(for: world.dice.seconds(pause))
            let bridge = Int.random(in: 0..<world.bridges.count, using: &world.dice)
            switch Int.random(in: 0..<10, using: &world.dice) {
            case 0...2:
                world.userWrites(world.dice.one(of: WorldTests.words))
            case 3...5 where locals.contains(bridge):
                world.decide(bridge, .command(world.dice.one(of: SwitchCommand.allCases)))
            case 6: world.disconnect(bridge)
            case 7 where world.dice.chance(0.2): world.restart(bridge)
            default:
                guard world.bridges[bridge].link == nil else { continue }
                let canPoll = world.bridges[bridge].settings.hasREST
                world.connect(bridge, canPoll && world.dice.chance(0.4) ? .rest : .mqtt)
            }
        }
    }

    /// The faults end, everybody is connected, and nobody does anything.
    private func quiet(_ world: inout World) {
        world.weather = World.Weather(delay: world.weather.delay)
        world.run(for: 2)
        for bridge in world.bridges.indices where world.bridges[bridge].link == nil {
            world.connect(bridge, world.bridges[bridge].settings.hasREST && world.dice.chance(0.3) ? .rest : .mqtt)
        }
        world.run(for: 300)
    }

    private func check(_ world: inout World, _ seed: UInt64) {
        let words = SwitchWords()
        #expect(world.faults.isEmpty, "seed \(seed)")
        // A word that means nothing hides what was written while a bridge was away.
        let last = world.points.last.flatMap { words.meaning(of: $0.text) }
        for bridge in world.bridges where bridge.settings.writeBack && last != nil {
            #expect(
                bridge.machine.applied == last,
                "seed \(seed): the recorder does not do what stands on the feed"
            )
            #expect(bridge.memory.pending == nil, "seed \(seed)")
        }
        for bridge in world.bridges {
            #expect(bridge.isRecording == (bridge.machine.applied == .on), "seed \(seed)")
            #expect(bridge.memory.wanted == bridge.machine.wanted, "seed \(seed)")
            let told = bridge.tells.last?.text
            let isRight =
                bridge.isRecording ? told == "recording \(bridge.session)" : told?.hasPrefix("recording") == false
            #expect(isRight, "seed \(seed): the last state was not told but \(told ?? "nothing")")
        }
        // Nobody acts any more: nobody writes, nobody tells.
        let before = (world.points.count, world.bridges.map(\.tells.count), world.bridges.map(\.writes.count))
        world.run(for: 600)
        #expect(world.points.count == before.0, "seed \(seed)")
        #expect(world.bridges.map(\.tells.count) == before.1, "seed \(seed)")
        #expect(world.bridges.map(\.writes.count) == before.2, "seed \(seed)")
        #expect(world.faults.isEmpty, "seed \(seed)")
    }

    @Test("does what stands on the feed once the world is quiet, in 120,000 steps", arguments: 0..<8 as Range<UInt64>)
    func converges(part: UInt64) {
        var steps = 0
        var seed = part * 1_000_000
        while steps < 15_000 {
            seed += 1
            var world = World(seed: seed, settings: [SwitchSettings()])
            world.weather = World.Weather(
                lostWrite: 0.2,
                lostAnswer: 0.2,
                lostRequest: 0.2,
                noClock: 0.2,
                failedStart: 0.1,
                delay: 2
            )

            live(&world, acts: 300, locals: [0], pause: 0.001...8)
            quiet(&world)

            check(&world, seed)
            steps += world.steps
        }
    }

    @Test("does what stands on the feed of a plain broker", arguments: 1...100 as ClosedRange<UInt64>)
    func plainBroker(seed: UInt64) {
        var world = World(seed: seed, settings: [SwitchSettings(canAsk: false, hasREST: false)])
        world.weather = World.Weather(lostWrite: 0.1, failedStart: 0.1, delay: 1)

        live(&world, acts: 200, locals: [0], pause: 0.001...8)
        quiet(&world)

        check(&world, seed)
    }

    @Test("ends in the last wish of all people, here or on the feed", arguments: 1...150 as ClosedRange<UInt64>)
    func lastWish(seed: UInt64) {
        var world = World(seed: seed, settings: [SwitchSettings()])
        world.weather = World.Weather(lostWrite: 0.1, lostAnswer: 0.05, lostRequest: 0.2, delay: 1)

        live(&world, acts: 100, locals: [0], pause: 0.001...8)
        // The last wish is clearly the last one.
        world.run(for: 30)
        let wish: SwitchState = world.dice.chance(0.5) ? .on : .off
        if world.dice.chance(0.5) {
            world.userWrites(wish == .on ? "ON" : "OFF")
        } else {
            // Saying what holds already is no decision: say the other thing first.
            world.decide(0, .command(wish == .on ? .stop : .start))
            world.run(for: 5)
            world.decide(0, .command(wish == .on ? .start : .stop))
        }
        quiet(&world)

        check(&world, seed)
        #expect(world.bridges[0].machine.applied == wish, "seed \(seed)")
    }

    @Test("is no fight between two bridges on one feed", arguments: 1...100 as ClosedRange<UInt64>)
    func twoBridges(seed: UInt64) {
        var world = World(seed: seed, settings: [SwitchSettings(), SwitchSettings(writeBack: false)])
        world.weather = World.Weather(lostAnswer: 0.1, failedStart: 0.2, delay: 1)

        live(&world, acts: 200, locals: [0, 1], pause: 0.001...8)
        quiet(&world)

        check(&world, seed)
        #expect(world.bridges[1].writes.isEmpty)
    }

    @Test(
        "writes only for decisions, each at most once, when nothing is lost",
        arguments: 1...50 as ClosedRange<UInt64>
    )
    func writesForDecisions(seed: UInt64) {
        var world = World(seed: seed, settings: [SwitchSettings()])
        world.weather = World.Weather(failedStart: 0.2, delay: 0.3)
        world.connect(0, .mqtt)

        for _ in 0..<100 {
            world.run(for: world.dice.seconds(0.001...8))
            if world.dice.chance(0.5) {
                world.userWrites(world.dice.one(of: WorldTests.words))
            } else {
                world.decide(0, world.dice.one(of: [.command(.toggle), .limitReached, .schedule(.on), .alert(.off)]))
            }
        }
        quiet(&world)

        check(&world, seed)
        #expect(world.bridges[0].writes.count <= world.bridges[0].decisions, "seed \(seed)")
    }
}
