import Diagnostics
import FastJSON

@testable import Bridge
@testable import Control
@testable import DataPoints
@testable import Feeds
@testable import Publisher
@testable import Simulator

extension FuzzTarget {
    /// The configuration file, from its text to the values.
    static let configuration = FuzzTarget(
        "configuration",
        texts: [
            "name = \"a\"\n[account]\nusername = \"ada\"\nplan = 60\nshare = 0.5\nfallback_after = \"250 ms\"\n",
            "[account]\nusername = \"ada\"\n[outbox]\nmax_bytes = \"256 MB\"\nmax_age = \"29 d\"\nwhen_full = \"thin\"\n",
            """
            [account]
            username = "ada"
            [switch]
            on_words = ["an"]
            on_start = "follow"
            [[sampler]]
            kind = "host"
            every = "2 s"
            [[rule]]
            stream = "host.load"
            field = "one_minute"
            feed = "load"
            reduce = "mean"
            every = "10 s"
            dead_band = 0.01
            precision = 2
            """,
        ]
    ) { text in
        do throws(ConfigurationError) {
            _ = try Configuration(parsing: text, file: "fuzz.toml")
        } catch {
            precondition(!error.problems.isEmpty)
        }
    }

    /// What the control feed may hold.
    static let controlWords = FuzzTarget(
        "control-words",
        texts: ["ON", " off ", #"{"value":"ON"}"#, #"{"value":{"value":1}}"#, "1,2,3", "\"ON\",1,2,3", "yes", "🙂"]
    ) { text in
        let words = SwitchWords()
        _ = words.meaning(of: text)
        _ = SwitchStateMachine.forStatus(text, limit: 40)
        if let own = try? SwitchWords(on: [text], off: ["other"]) { _ = own.written(.on) }
    }

    /// What the bridge keeps across restarts, as a damaged file may give it back.
    static let savedState = FuzzTarget("saved-state", texts: savedTexts) { text in
        if let memory = StateText.value(SwitchMemory.self, text) {
            var machine = SwitchStateMachine(settings: SwitchSettings(), memory: memory)
            let now = SwitchMoment(SystemTime())
            for event in [
                SwitchEvent.launched, .connected(.mqtt), .last("ON", createdAt: now.wall, clockOffset: .zero, read: 0),
                .tick,
            ] { _ = machine.handle(event, at: now) }
        }
        if let memory = StateText.value(PublisherMemory.self, text) {
            let now = SystemTime().boot()
            var machine = PublisherStateMachine(settings: PublisherSettings(), memory: memory, at: now)
            _ = machine.handle(.start(waiting: [:]), at: now)
            _ = machine.handle(.tick, at: now.advanced(by: .seconds(100)))
            _ = machine.deadline
            _ = machine.status
        }
    }

    private static var savedTexts: [String] {
        let now = SystemTime().boot()
        var machine = SwitchStateMachine(settings: SwitchSettings())
        let moment = SwitchMoment(SystemTime())
        let kept = machine.handle(.command(.start), at: moment).compactMap { action in
            if case .remember(let memory) = action { memory } else { nil as SwitchMemory? }
        }
        let budget = AccountBudget(plan: 30, share: 1, backlogShare: 0.2)
        let memory = PublisherMemory(bootID: BootID.current, writtenAt: now, budget: budget)
        return kept.compactMap { try? StateText.text($0) } + [(try? StateText.text(memory)) ?? ""]
    }

    /// Short texts that people or machines write: times, faults, arguments, names, addresses.
    static let words = FuzzTarget(
        "words",
        texts: [
            "2026-01-01T00:00:00.123Z", "connack:code=6,count=3", "quoted-messages=off", "--account\na:key:plus",
            "host.load.x",
            "mqtts://io.adafruit.com:8883", "12 h", "-1 d", "yesterday", "1767225600", "9e18",
        ]
    ) { text in
        _ = Timestamp(iso8601: text)
        _ = try? Fault(text)
        _ = try? SimulatorArguments(text.split(separator: "\n").map(String.init))
        _ = FeedKey(text)
        _ = FieldReference(text)
        _ = Endpoint(text, schemes: ["mqtt", "mqtts"])
        _ = TimeArgument.moment(text, now: Timestamp(nanoseconds: 1_790_000_000_000_000_000))
        if let number = Double(text) {
            _ = CanonicalText.number(number)
            _ = CanonicalText.number(number, precision: 3)
            _ = Timestamp(seconds: number)
        }
    }
}
