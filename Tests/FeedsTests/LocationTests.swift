import DataPoints
import Diagnostics
import Samples
import Testing

@testable import Feeds

@Suite("Location of a point") struct LocationTests {
    private func engine() throws -> RuleEngine {
        let rule = Rule(
            reference("host.load", "one_minute"),
            feed: feed("load"),
            every: .seconds(10),
            location: name("location")
        )
        return try RuleEngine([rule], device: "d", streams: [load, place])
    }

    private func fix(_ time: Double, _ latitude: Double, _ longitude: Double, _ altitude: Value = .missing)
        -> SampleBatch
    {
        batch(place, [(time, [.real(latitude), .real(longitude), altitude])])
    }

    @Test("the newest position goes with the point")
    func newest() throws {
        var engine = try engine()
        _ = engine.receive(fix(1, 40, -3, .real(650)))
        _ = engine.receive(fix(5, 41, -4, .real(651)))
        _ = engine.receive(fix(3, 10, 10))
        _ = engine.receive(loads((9, 1)))

        let points = engine.tick(now: at(11))

        #expect(points.map(\.location) == [Location(latitude: 41, longitude: -4, elevation: 651)])
    }

    @Test("a position of more than a minute ago does not")
    func stale() throws {
        var engine = try engine()
        _ = engine.receive(fix(1, 40, -3))

        let points = engine.receive(loads((55, 1), (65, 1), (75, 1)))

        #expect(points.map { $0.location != nil } == [true, false])
    }

    @Test("an impossible position is no position")
    func impossible() throws {
        var engine = try engine()
        _ = engine.receive(fix(1, 91, 0))
        _ = engine.receive(fix(2, 0, 181))
        _ = engine.receive(batch(place, [(3, [.missing, .real(1), .missing])]))

        #expect(engine.receive(loads((5, 1), (15, 1))).map(\.location) == [nil])
    }
}
