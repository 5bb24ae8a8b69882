import Control
import Diagnostics

/// A switch in virtual time that writes down what it does: `at` what second, what.
struct Script {
    private(set) var machine: SwitchStateMachine
    private(set) var memory: SwitchMemory
    private var lines: [String] = []
    private var now = 0.0

    /// The wall clock of second 0: 2026-01-01 00:00:00 UTC.
    static let start: Int64 = 1_767_225_600_000_000_000

    init(_ settings: SwitchSettings = SwitchSettings(), memory: SwitchMemory = SwitchMemory(), bootID: String = "a") {
        machine = SwitchStateMachine(settings: settings, memory: memory, bootID: bootID)
        self.memory = memory
        handle(.launched)
    }

    /// Lets time pass to `second`, handing in ticks when they are due, then hands in `event`.
    mutating func at(_ second: Double, _ event: SwitchEvent? = nil) {
        while let deadline = machine.deadline, Script.seconds(deadline) <= second {
            now = max(now, Script.seconds(deadline))
            handle(.tick)
        }
        now = second
        if let event { handle(event) }
    }

    /// What was done since the last call, one action a line.
    mutating func done() -> [String] {
        defer { lines = [] }
        return lines
    }

    /// The end of the program.
    mutating func farewell() -> String? { machine.farewell() }

    /// A moment of the service, `second` seconds after the start.
    static func time(_ second: Double) -> Timestamp {
        Timestamp(nanoseconds: start + Int64(second * 1e9))
    }

    private static func seconds(_ instant: BootInstant) -> Double {
        Double(instant.nanoseconds - 1_000_000_000_000) / 1e9
    }

    private mutating func handle(_ event: SwitchEvent) {
        let moment = SwitchMoment(
            wall: Script.time(now),
            boot: BootInstant(nanoseconds: 1_000_000_000_000 + Int64((now * 1e9).rounded()))
        )
        for action in machine.handle(event, at: moment) {
            switch action {
            case .remember(let memory): self.memory = memory
            case .start(let reason): log("start \(reason)")
            case .stop(let reason): log("stop \(reason)")
            case .write(let text, let id): log("write \(text) #\(id)")
            case .tell(let text): log("tell \(text)")
            case .ask: log("ask")
            case .read(let id): log("read #\(id)")
            }
        }
    }

    private mutating func log(_ text: String) {
        let shown = now == now.rounded() ? String(Int(now)) : String(now)
        lines.append("\(shown) \(text)")
    }
}
