public import Diagnostics
public import Samples

/// This machine: load, processors, memory, network, disks, temperatures and other hardware monitors.
///
/// What is there is found when the sampler is made, so a file that is absent is an absent stream. What goes away later is
/// reported as missing and taken up when it returns; what is new is found at the next start.
public final class HostSampler: Sampler {
    /// `host`.
    public let kind = "host"

    /// Every stream that was found.
    public let streams: [Stream]

    private let reader: HostReader
    private let every: Duration
    private let proc: String
    private let sys: String
    private let time: any TimeSource

    /// Finds what this machine has. It reads small files, so it may block for some milliseconds.
    ///
    /// - Parameters:
    ///   - every: How often everything is read.
    ///   - proc: Where the kernel's process files are.
    ///   - sys: Where the kernel's device files are.
    ///   - time: The clocks.
    public init(
        every: Duration = .seconds(2),
        proc: String = "/proc",
        sys: String = "/sys",
        time: any TimeSource = SystemTime()
    ) {
        reader = HostReader(proc: proc, sys: sys)
        streams = reader.streams
        self.every = max(every, .milliseconds(10))
        self.proc = proc
        self.sys = sys
        self.time = time
    }

    /// Reads everything at once, then every `every` without drift, until the task is cancelled.
    ///
    /// A rate needs two readings: the first pass gives none. A pass that comes too late is left out, not made up for.
    public func run(into sink: any SampleSink) async throws {
        await reader.begin()
        var due = time.boot()
        while true {
            try Task.checkCancellation()
            await reader.pass(into: sink, time: time)
            let now = time.boot()
            due = due.advanced(by: every)
            if due < now {
                let missed = due.duration(to: now).nanoseconds / max(every.nanoseconds, 1) + 1
                due = due.advanced(by: every * Int(clamping: missed))
            }
            try await time.sleep(until: due)
        }
    }

    /// Reads every stream twice, a quarter of a second apart, so that rates can be shown too.
    public func readings() async -> [SensorReading] {
        let (proc, sys) = (proc, sys)
        let fresh = await BlockingExecutor(label: "feedbridge.host.find").run { HostReader(proc: proc, sys: sys) }
        var found = await fresh.readings(time: time)
        if (try? await time.sleep(for: .milliseconds(250))) != nil {
            found = await fresh.readings(time: time)
        }
        let there = Set(found.map(\.stream.name))
        for stream in streams where !there.contains(stream.name) {
            found.append(
                SensorReading(
                    stream: stream,
                    values: stream.fields.map { _ in .missing },
                    condition: .missing("\(stream.name) is not there any more.")
                )
            )
        }
        return found
    }
}
