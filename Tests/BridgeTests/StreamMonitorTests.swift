import Diagnostics
import Samples
import Testing

@testable import Bridge

@Suite("The monitor of a stream")
struct StreamMonitorTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000_000)
    private let wall = Timestamp(nanoseconds: 1_790_000_000_000_000_000)
    private let pair = stream("test", "x", "y")

    private func batch(_ samples: (offset: Duration, values: [Value])...) -> SampleBatch {
        var batch = SampleBatch(pair, arrival: start)
        for sample in samples { batch.append(time: wall + sample.offset, sample.values) }
        return batch
    }

    @Test("the rate is known after five seconds, follows a change within ten, and is 0 in silence")
    func rate() throws {
        var monitor = StreamMonitor(askedHertz: 100)
        var now = start
        for step in 0..<100 {
            monitor.count(batch((.milliseconds(50 * step), [.real(1), .real(Double(step))])), at: now)
            if step < 99 { #expect(monitor.rate(at: now) == nil) }
            now = now.advanced(by: .milliseconds(50))
        }
        #expect(try #require(monitor.rate(at: now)) == 20)

        for step in 0..<1000 {
            monitor.count(batch((.seconds(10) + .milliseconds(10 * step), [.real(1), .real(2)])), at: now)
            now = now.advanced(by: .milliseconds(10))
        }
        #expect(abs(try #require(monitor.rate(at: now)) - 100) < 1)
        #expect(monitor.rate(at: now.advanced(by: .seconds(60))) == 0)
    }

    @Test("samples without any value are bad, samples from before are late, and both are told from the good ones")
    func counts() {
        var monitor = StreamMonitor(askedHertz: nil)

        monitor.count(
            batch(
                (.seconds(2), [.real(1), .missing]),
                (.seconds(1), [.real(1), .real(1)]),
                (.seconds(3), [.missing, .missing])
            ),
            at: start
        )

        #expect(monitor.good == 2)
        #expect(monitor.bad == 1)
        #expect(monitor.late == 1)
        #expect(monitor.duplicate == 0)
    }

    @Test("the same of the same moment is a duplicate, within a batch and from one to the next")
    func duplicates() {
        var monitor = StreamMonitor(askedHertz: nil)

        monitor.count(
            batch((.seconds(1), [.real(1), .real(2)]), (.seconds(1), [.real(1), .real(2)])),
            at: start
        )
        #expect(monitor.duplicate == 1)
        monitor.count(batch((.seconds(1), [.real(1), .real(2)])), at: start)
        #expect(monitor.duplicate == 2)
        // Another value of the same moment is none, and a late one in between changes nothing.
        monitor.count(batch((.seconds(1), [.real(1), .real(3)]), (.zero, [.real(7), .real(7)])), at: start)
        #expect(monitor.duplicate == 2)
        #expect(monitor.late == 1)
        monitor.count(batch((.seconds(1), [.real(1), .real(3)])), at: start)
        #expect(monitor.duplicate == 3)
    }

    @Test("an empty batch is nothing")
    func empty() {
        var monitor = StreamMonitor(askedHertz: nil)

        monitor.count(SampleBatch(pair, arrival: start), at: start)

        #expect(monitor.age(at: start) == nil)
        #expect(monitor.good == 0)
    }

    @Test("three missed readings are silence, but never less than five seconds, and only while it runs")
    func silence() {
        var monitor = StreamMonitor(askedHertz: 0.1)
        monitor.count(batch((.zero, [.real(1), .real(1)])), at: start)

        #expect(monitor.state(at: start.advanced(by: .seconds(30)), isRunning: true) == .ok)
        #expect(monitor.state(at: start.advanced(by: .seconds(31)), isRunning: true) == .silent)
        #expect(monitor.state(at: start.advanced(by: .seconds(31)), isRunning: false) == .ok)

        var fast = StreamMonitor(askedHertz: 100)
        fast.count(batch((.zero, [.real(1), .real(1)])), at: start)
        #expect(fast.state(at: start.advanced(by: .seconds(5)), isRunning: true) == .ok)
        #expect(fast.state(at: start.advanced(by: .seconds(6)), isRunning: true) == .silent)
    }

    @Test("a source that never says anything is silent, and a start gives it time anew")
    func neverHeard() {
        var monitor = StreamMonitor(askedHertz: 1)
        monitor.expect(at: start)
        #expect(monitor.state(at: start.advanced(by: .seconds(5)), isRunning: true) == .ok)
        #expect(monitor.state(at: start.advanced(by: .seconds(6)), isRunning: true) == .silent)

        let later = start.advanced(by: .seconds(3600))
        monitor.expect(at: later)
        #expect(monitor.state(at: later, isRunning: true) == .ok)
    }

    @Test("an example of what is unusable is shown once a minute, and all are counted")
    func rejects() {
        var monitor = StreamMonitor(askedHertz: nil)

        let shown = [0, 59, 60].map { monitor.reject(2, at: start.advanced(by: .seconds($0))) }

        #expect(shown == [true, false, true])
        #expect(monitor.bad == 6)
    }

    @Test("a condition is new once, and a sample ends an error but not a missing permission")
    func conditions() {
        var monitor = StreamMonitor(askedHertz: nil)
        let isNew = [SourceCondition.ok, .error("broken"), .error("broken")].map { monitor.note($0) }
        #expect(isNew == [false, true, false])

        monitor.count(batch((.zero, [.missing, .missing])), at: start)
        #expect(monitor.state(at: start, isRunning: true) == .error("broken"))
        monitor.count(batch((.seconds(1), [.real(1), .missing])), at: start)
        #expect(monitor.state(at: start, isRunning: true) == .ok)

        _ = monitor.note(.noPermission("join a group"))
        monitor.count(batch((.seconds(2), [.real(1), .missing])), at: start)
        #expect(monitor.state(at: start, isRunning: true) == .noPermission("join a group"))
    }
}
