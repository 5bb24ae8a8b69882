import Alerts
import DataPoints
import Diagnostics
import Samples
import Testing

@Suite("Alerts")
struct AlertMonitorTests {
    private static let light = Name(mapping: "light")
    private static let value = Name(mapping: "value")

    /// A monitor on a clock that is moved by hand.
    private struct Watch {
        var monitor: AlertMonitor
        var seconds = 1_000.0

        init(
            _ condition: AlertCondition,
            lasting: Int = 0,
            every: Int = 60,
            tellsEnd: Bool = true,
            begun: [String] = []
        ) throws {
            monitor = try AlertMonitor(
                [
                    Alert(
                        name: "a",
                        condition: condition,
                        actions: [.log],
                        lasting: .seconds(lasting),
                        atMostEvery: .seconds(every),
                        tellsEnd: tellsEnd
                    )
                ],
                begun: begun
            )
        }

        var now: AlertMoment {
            AlertMoment(wall: Timestamp(seconds: 1.6e9 + seconds), boot: BootInstant(nanoseconds: Int64(seconds * 1e9)))
        }

        mutating func see(_ value: Value, age: Double = 0, stream: Samples.Stream? = nil, values: [Value]? = nil)
            -> [String]
        {
            let stream = stream ?? Stream(AlertMonitorTests.light, fields: [Field(AlertMonitorTests.value)])
            let batch = SampleBatch(
                stream,
                arrival: now.boot,
                time: Timestamp(seconds: 1.6e9 + seconds - age),
                values ?? [value]
            )
            return monitor.receive(batch, now: now).map(\.state)
        }

        mutating func pass(_ seconds: Double) -> [String] {
            self.seconds += seconds
            return monitor.pass(now).map(\.state)
        }
    }

    private let field = AlertField(light, value)

    @Test("a threshold begins above the limit and ends below it less the hysteresis")
    func hasHysteresis() throws {
        var watch = try Watch(.above(field, limit: 10, hysteresis: 2), every: 1)

        #expect(watch.see(.real(10)).isEmpty)
        #expect(watch.see(.real(10.1)) == ["began"])
        #expect(watch.see(.real(12)).isEmpty)
        #expect(watch.see(.real(9)).isEmpty)
        #expect(watch.see(.missing).isEmpty)
        #expect(watch.see(.text("x")).isEmpty)
        #expect(watch.see(.real(8)) == ["ended"])
    }

    @Test("below and outside are judged the same way")
    func judgesRanges() throws {
        var below = try Watch(.below(field, limit: 10, hysteresis: 2))
        #expect(below.see(.real(9)) == ["began"])
        #expect(below.see(.real(11.9)).isEmpty)
        #expect(below.see(.real(12)) == ["ended"])

        var outside = try Watch(.outside(field, range: 0...10, hysteresis: 1), every: 1)
        #expect(outside.see(.real(0)).isEmpty)
        #expect(outside.see(.real(-0.1)) == ["began"])
        #expect(outside.see(.real(0.5)).isEmpty)
        #expect(outside.see(.real(9.5)).isEmpty)
        #expect(outside.see(.real(5)) == ["ended"])
    }

    @Test("a value that shakes around its limit begins once in the least time, and the last state is told in the end")
    func sparesTheBudget() throws {
        var watch = try Watch(.above(field, limit: 10, hysteresis: 0), every: 60)
        var told: [String] = []
        for step in 0..<600 {
            watch.seconds += 0.1
            told += watch.see(.real(step % 2 == 0 ? 11 : 9))
        }
        #expect(told == ["began", "ended"])
        #expect(watch.monitor.held > 100)

        // It holds when the least time is over: told then, without a further sample.
        #expect(watch.see(.real(11)).isEmpty)
        #expect(watch.pass(0.01).isEmpty)
        let deadline = try #require(watch.monitor.deadline)
        #expect(watch.pass(Double(deadline.nanoseconds) * 1e-9 - watch.seconds) == ["began"])
    }

    @Test("what has to last is told only once it has lasted")
    func waits() throws {
        var watch = try Watch(.above(field, limit: 10, hysteresis: 0), lasting: 30)
        #expect(watch.see(.real(11)).isEmpty)
        watch.seconds += 20
        #expect(watch.see(.real(9)).isEmpty)
        #expect(watch.see(.real(11)).isEmpty)
        watch.seconds += 29
        #expect(watch.see(.real(11)).isEmpty)
        watch.seconds += 1
        #expect(watch.see(.real(11)) == ["began"])
    }

    @Test("late samples and a backlog tell nothing")
    func ignoresHistory() throws {
        var watch = try Watch(.above(field, limit: 10, hysteresis: 0))
        #expect(watch.see(.real(20), age: 3_600).isEmpty)
        #expect(watch.see(.real(5)).isEmpty)
        #expect(watch.see(.real(20), age: 1).isEmpty)
        #expect(watch.see(.real(20)) == ["began"])
        #expect(watch.see(.real(5), age: 10).isEmpty)
    }

    @Test("a source that stays away is missed, also one that never came, and its return is told")
    func missesSources() throws {
        var watch = try Watch(.missing(AlertMonitorTests.light, after: .seconds(30)), every: 1)
        #expect(watch.pass(0).isEmpty)
        #expect(watch.pass(29).isEmpty)
        #expect(watch.monitor.deadline == BootInstant(nanoseconds: 1_030_000_000_000))
        #expect(watch.pass(1) == ["began"])
        #expect(watch.pass(100).isEmpty)
        #expect(watch.see(.real(1)) == ["ended"])
        #expect(watch.pass(29).isEmpty)
        #expect(watch.see(.real(1)).isEmpty)
        #expect(watch.pass(30) == ["began"])
    }

    @Test("a source that says that it is gone is missed at once")
    func believesSources() throws {
        var watch = try Watch(.missing(AlertMonitorTests.light, after: .seconds(30)))
        let notices = watch.monitor.report(.missing("unplugged"), of: AlertMonitorTests.light, now: watch.now)

        #expect(notices.map(\.sentence) == ["Alert a began: light is missing."])
        #expect(watch.see(.real(1)) == ["ended"])
    }

    @Test("a geofence's events count for their own region only")
    func selects() throws {
        let stream = Stream(
            Name(mapping: "geofence"),
            fields: [Field(Name(mapping: "region"), kind: .text), Field(Name(mapping: "event"), kind: .text)]
        )
        let field = AlertField(
            stream.name,
            Name(mapping: "event"),
            only: .init(Name(mapping: "region"), "home")
        )
        var watch = try Watch(.equal(field, word: "enter"), every: 1)

        #expect(watch.see(.missing, stream: stream, values: [.text("work"), .text("enter")]).isEmpty)
        #expect(watch.see(.missing, stream: stream, values: [.text("home"), .text("enter")]) == ["began"])
        #expect(watch.see(.missing, stream: stream, values: [.text("work"), .text("leave")]).isEmpty)
        #expect(watch.see(.missing, stream: stream, values: [.text("home"), .text("leave")]) == ["ended"])
    }

    @Test("flags are words too")
    func readsFlags() throws {
        var watch = try Watch(.equal(field, word: "true"))

        #expect(watch.see(.flag(false)).isEmpty)
        #expect(watch.see(.flag(true)) == ["began"])
    }

    @Test("what had begun before a restart is not told again, and its end is")
    func survivesRestart() throws {
        var watch = try Watch(.above(field, limit: 10, hysteresis: 2))
        _ = watch.see(.real(11))
        #expect(watch.monitor.begun == ["a"])

        var next = try Watch(.above(field, limit: 10, hysteresis: 2), begun: watch.monitor.begun)
        #expect(next.see(.real(9)).isEmpty)
        #expect(next.see(.real(11)).isEmpty)
        #expect(next.see(.real(7)) == ["ended"])
    }

    @Test("each action is one notice; a session that lasts as long as the alert is stopped at its end")
    func givesActions() throws {
        let feed = try #require(FeedKey("door"))
        let command = try AlertCommand(path: "/usr/bin/logger", arguments: ["-t", "door"])
        let alert = try Alert(
            name: "door",
            condition: .above(field, limit: 1, hysteresis: 0),
            actions: [
                .publish(feed, text: "{name} {state}: {value} {x} {"), .run(command), .session(.record),
                .session(.start),
            ],
            tellsEnd: false
        )
        var monitor = try AlertMonitor([alert])
        let now = AlertMoment(wall: Timestamp(seconds: 1.6e9), boot: BootInstant(nanoseconds: 5))
        let stream = Stream(AlertMonitorTests.light, fields: [Field(AlertMonitorTests.value)])

        let begun = monitor.receive(SampleBatch(stream, arrival: now.boot, time: now.wall, [.real(2.5)]), now: now)
        let ended = monitor.receive(SampleBatch(stream, arrival: now.boot, time: now.wall, [.real(0)]), now: now)

        #expect(begun.map(\.action) == alert.actions)
        #expect(begun.first?.filled("{name} {state}: {value} {x} {") == "door began: 2.5 {x} {")
        #expect(ended.map(\.action) == [.session(.record)])
    }

    @Test("a command gets values in a clean environment, without control characters and not too long")
    func cleansEnvironment() throws {
        let field = AlertField(AlertMonitorTests.light, AlertMonitorTests.value)
        var watch = try Watch(.equal(field, word: "x"), every: 1)
        _ = watch.see(.text("x"))
        let nasty = "a\u{0}b\n\u{1B}$(reboot)`" + String(repeating: "é", count: 2_000)
        let stream = Stream(AlertMonitorTests.light, fields: [Field(AlertMonitorTests.value)])
        let batch = SampleBatch(stream, arrival: watch.now.boot, time: watch.now.wall, [.text(nasty)])

        let notice = try #require(watch.monitor.receive(batch, now: watch.now).first)
        let environment = Dictionary(uniqueKeysWithValues: notice.environment.map { ($0.name, $0.value) })

        let value = try #require(environment["FEEDBRIDGE_VALUE"])
        #expect(value.hasPrefix("ab$(reboot)`é"))
        #expect(value.utf8.count <= 1_024)
        #expect(environment["FEEDBRIDGE_STATE"] == "ended")
        #expect(
            Set(environment.keys).isSubset(of: [
                "PATH", "LANG", "FEEDBRIDGE_ALERT", "FEEDBRIDGE_STATE", "FEEDBRIDGE_VALUE", "FEEDBRIDGE_STREAM",
                "FEEDBRIDGE_FIELD", "FEEDBRIDGE_TIME",
            ])
        )
    }

    @Test("a command that is no absolute path, or may run too long, is refused")
    func refusesCommands() {
        #expect(throws: AlertError.self) { try AlertCommand(path: "logger") }
        #expect(throws: AlertError.self) { try AlertCommand(path: "/usr/bin/") }
        #expect(throws: AlertError.self) { try AlertCommand(path: "/bin/x\u{0}") }
        #expect(throws: AlertError.self) { try AlertCommand(path: "/bin/x", arguments: ["a\u{0}b"]) }
        #expect(throws: AlertError.self) { try AlertCommand(path: "/bin/x", timeLimit: .seconds(601)) }
    }

    @Test("an alert that cannot work is refused, and so is a name twice")
    func refusesAlerts() throws {
        func make(_ condition: AlertCondition, name: String = "a", actions: [AlertAction] = [.log], every: Int = 60)
            throws -> Alert
        {
            try Alert(name: name, condition: condition, actions: actions, atMostEvery: .seconds(every))
        }
        let good = AlertCondition.above(field, limit: 1, hysteresis: 0)
        #expect(throws: AlertError.self) { try make(.above(field, limit: .nan, hysteresis: 0)) }
        #expect(throws: AlertError.self) { try make(.below(field, limit: 1, hysteresis: -1)) }
        #expect(throws: AlertError.self) { try make(.outside(field, range: 0...1, hysteresis: 0.6)) }
        #expect(throws: AlertError.self) { try make(.missing(AlertMonitorTests.light, after: .zero)) }
        #expect(throws: AlertError.self) { try make(good, name: "") }
        #expect(throws: AlertError.self) { try make(good, actions: []) }
        #expect(throws: AlertError.self) { try make(good, every: 0) }
        #expect(throws: AlertError.self) { try AlertMonitor([make(good), make(good)]) }
    }
}
