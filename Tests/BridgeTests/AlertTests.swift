import Alerts
import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("Alerts in the bridge", .timeLimit(.minutes(5)))
struct AlertTests {
    private let folder = TemporaryDirectory()

    private func alerting(_ text: String) throws -> Configuration.Alerting {
        let head = "name = \"test\"\n[account]\nusername = \"ada\"\n"
        return try Configuration(parsing: head + text, file: "feedbridge.toml").alerting
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try alerting(text)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { "\($0.line): \($0.text)" }
        } catch {
            return ["\(error)"]
        }
    }

    /// A flow that watches these alerts, and what it is told to record.
    private func world(_ text: String) async throws -> (world: FlowWorld, records: Guarded<[Bool]>) {
        let world = try await FlowWorld()
        let records = Guarded<[Bool]>([])
        let executor = AlertExecutor(
            commands: CommandRunner(log: world.talk.log),
            log: world.talk.log,
            publish: { [outbox = world.outbox] in outbox.append($0) },
            record: { isOn in records.withLock { $0.append(isOn) } }
        )
        try world.flow.watch(try alerting(text).alerts, with: executor)
        return (world, records)
    }

    private func feed(_ world: FlowWorld, _ values: [Double], apart: Duration = .seconds(1)) throws {
        let stream = Stream(try #require(Name("temperature")), fields: [Field(try #require(Name("value")))])
        for value in values {
            world.flow.receive(
                SampleBatch(stream, arrival: world.time.boot(), time: world.time.wall(), [.real(value)])
            )
            world.time.advance(by: apart)
            world.flow.tick()
        }
    }

    @Test("a threshold is published when it is passed and when it is over, with hysteresis, and not in between")
    func publishes() async throws {
        let (world, _) = try await world(
            """
            [[alert]]
            name = "hot"
            stream = "temperature"
            field = "value"
            above = 30
            hysteresis = 2
            feed = "warnings"
            text = "{name} {state} at {value}"
            log = true
            """
        )
        try feed(world, [25, 31, 32, 29, 31, 27.5, 25])
        #expect(try await world.points().map(\.value) == ["hot began at 31", "hot ended at 27.5"])
        #expect(world.talk.text.contains("Alert hot began: temperature.value is 31."))
    }

    @Test("something that shakes cannot spend the budget: an alert begins at most every so often")
    func spares() async throws {
        let (world, _) = try await world(
            "[[alert]]\nstream = \"temperature\"\nfield = \"value\"\nabove = 30\nfeed = \"warnings\"\ntell_end = false\n"
        )
        try feed(world, (0..<600).map { $0.isMultiple(of: 2) ? 31 : 20 })
        #expect(try await world.points().count <= 11)
        #expect(try await world.points().count >= 9)
    }

    @Test("a source that is missing is told, and that it came back")
    func missing() async throws {
        let (world, _) = try await world(
            "[[alert]]\nname = \"gone\"\nstream = \"temperature\"\nmissing_for = \"10 s\"\nfeed = \"warnings\"\ntext = \"{state}\"\n"
        )
        try feed(world, [1, 2, 3])
        for _ in 0..<30 {
            world.time.advance(by: .seconds(1))
            world.flow.tick()
        }
        try feed(world, [4])
        #expect(try await world.points().map(\.value) == ["began", "ended"])
    }

    @Test("an alert records while it lasts")
    func records() async throws {
        let (world, records) = try await world(
            "[[alert]]\nstream = \"temperature\"\nfield = \"value\"\nbelow = 0\nsession = \"record\"\n"
        )
        try feed(world, [5, -1, -2, 3])
        #expect(records.withLock { $0 } == [true, false])
    }

    @Test("a program is run with fixed arguments and the values in a clean environment, without a shell")
    func runs() async throws {
        let file = folder.file("environment")
        let script =
            "import os, sys; open(sys.argv[1] + '.new', 'w').write(repr(sorted(os.environ.items())) + sys.argv[2]);"
            + " os.rename(sys.argv[1] + '.new', sys.argv[1])"
        let (world, _) = try await world(
            """
            [[alert]]
            name = "cold; rm -rf $HOME"
            stream = "temperature"
            field = "value"
            below = 0
            run = ["/usr/bin/python3", "-c", "\(script)", "\(file)", "$(reboot)"]
            """
        )
        try feed(world, [5, -1])
        try await until("the program has run") { FileManager.default.fileExists(atPath: file) }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.hasSuffix("$(reboot)"))
        #expect(text.contains("('FEEDBRIDGE_ALERT', 'cold; rm -rf $HOME')"))
        #expect(text.contains("('FEEDBRIDGE_STATE', 'began')") && text.contains("('FEEDBRIDGE_VALUE', '-1')"))
        #expect(!text.contains("HOME'") || !text.contains("('HOME'"))
    }

    @Test("a program that takes too long is ended, one that is not there is told")
    func limits() async throws {
        let (world, _) = try await world(
            """
            [[alert]]
            name = "slow"
            stream = "temperature"
            field = "value"
            below = 0
            run = ["/bin/sleep", "1000"]
            run_limit = "1 s"
            [[alert]]
            name = "none"
            stream = "temperature"
            field = "value"
            below = 0
            run = ["/nonexistent/program"]
            """
        )
        try feed(world, [5, -1])
        try await until("both are told") {
            world.talk.text.contains("/bin/sleep took longer than") && world.talk.text.contains("/nonexistent/program")
        }
    }

    @Test("wrong settings are named with their place")
    func mistakes() {
        let head = "[[alert]]\nstream = \"temperature\"\n"
        #expect(problems(head).first?.contains("field is missing") == true)
        #expect(problems(head + "field = \"value\"\nfeed = \"a\"\n").first?.contains("above, below") == true)
        #expect(problems(head + "field = \"value\"\nabove = 1\n").first?.contains("does nothing") == true)
        #expect(
            problems(head + "field = \"value\"\nabove = 1\nrun = [\"ring\"]\n").first?.contains("no absolute path")
                == true
        )
        #expect(
            problems(head + "field = \"value\"\nabove = 1\nbelow = 2\nlog = true\n").first?.contains("below must be")
                == true
        )
        #expect(problems(head + "field = \"value\"\nabvoe = 1\nlog = true\n").contains { $0.contains("\"above\"") })
        let alert = head + "name = \"a\"\nfield = \"value\"\nabove = 1\nlog = true\n"
        #expect(problems(alert + alert).first?.contains("two alerts") == true)
    }
}
