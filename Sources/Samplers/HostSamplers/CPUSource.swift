internal import KernelFiles
internal import Samples

/// `host.cpu` from `/proc/stat`: how busy all processors together, and each of them, were since the last reading.
final class CPUSource: HostSource {
    /// A stream has at most 64 fields, and one is the total.
    static let mostCores = 63

    private struct Ticks {
        var busy: UInt64 = 0
        var idle: UInt64 = 0
        /// The pass in which it was read; a core that was off in between gives no reading.
        var pass = 0
    }

    let streams: [Stream]
    private let file: KernelFile
    /// The number of the core behind each field; -1 is the total.
    private let cores: [Int]
    private var previous: [Ticks]
    private var pass = 1

    /// Nil when there is no such file.
    init?(proc: String) {
        file = KernelFile("\(proc)/stat")
        var cores: [Int] = []
        guard KernelFile.exists(file.path) else { return nil }
        _ = file.readOnce { text in
            while let core = CPUSource.core(&text) {
                if core >= 0, cores.count < CPUSource.mostCores { cores.append(core) }
                text.skipLine()
            }
        }
        let fields = ["total"] + cores.map { "core\($0)" }
        streams = [
            Stream(Name(mapping: "host.cpu"), fields: fields.map { Field(Name(mapping: $0), unit: .percent) })
        ]
        self.cores = [-1] + cores
        previous = Array(repeating: Ticks(), count: self.cores.count)
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        // Numbers of passes rise by two when rates begin anew, so that no earlier pass counts as the last one.
        pass += seconds == nil ? 2 : 1
        do throws(KernelFailure) {
            var text = try file.read(into: buffer)
            var values = [Value](repeating: .missing, count: cores.count)
            var guess = 0
            while let core = CPUSource.core(&text) {
                if guess >= cores.count || cores[guess] != core { guess = cores.firstIndex(of: core) ?? cores.count }
                if guess < cores.count {
                    let now = ticks(&text)
                    if previous[guess].pass == pass - 1, let share = share(from: previous[guess], to: now) {
                        values[guess] = .real(share)
                    }
                    previous[guess] = now
                    guess += 1
                }
                text.skipLine()
            }
            let isFirst = values.allSatisfy { $0 == .missing }
            readings.append(HostReading(stream: 0, values: isFirst ? nil : values, condition: .ok))
        } catch {
            readings.append(HostReading(stream: 0, values: nil, condition: error.condition(file.path)))
        }
    }

    /// Goes beyond `cpu` or `cpuN`: -1 or N; nil at the first line that is about something else.
    private static func core(_ text: inout KernelText) -> Int? {
        guard text.skip("cpu") else { return nil }
        if text.next == 0x20 { return -1 }
        return text.count().flatMap { Int(exactly: $0) }
    }

    /// user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user already.
    private func ticks(_ text: inout KernelText) -> Ticks {
        var ticks = Ticks(pass: pass)
        for column in 0..<8 {
            guard let count = text.count() else { break }
            if column == 3 || column == 4 { ticks.idle &+= count } else { ticks.busy &+= count }
        }
        return ticks
    }

    /// Idle and iowait can go back a little: that counts as no idle time.
    private func share(from old: Ticks, to new: Ticks) -> Double? {
        let busy = new.busy >= old.busy ? Double(new.busy - old.busy) : 0
        let idle = new.idle >= old.idle ? Double(new.idle - old.idle) : 0
        return busy + idle > 0 ? 100 * busy / (busy + idle) : nil
    }
}
