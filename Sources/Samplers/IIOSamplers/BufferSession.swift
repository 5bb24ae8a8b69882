// Thread rule: a session is made, run and given up on one thread of its own, which waits in the kernel. Only `Wake` is
// touched from outside.
internal import Diagnostics
internal import Glibc
internal import KernelFiles
internal import Samples

/// Reads the scans of one device until it is woken or something fails. The buffer is off when it has ended.
final class BufferSession {
    /// Nothing may be missed for longer than this: a device that vanished without a word, a batch that is due.
    private static let longestWait = 1_000

    private let device: IIODevice
    private let settings: IIOConfiguration
    private let wake: Wake
    private let sink: any SampleSink
    private let conditions: Conditions
    private let time: any TimeSource
    private var decoder: ScanDecoder

    init(
        _ streams: [BoundStream],
        of device: IIODevice,
        _ settings: IIOConfiguration,
        wake: Wake,
        sink: any SampleSink,
        conditions: Conditions,
        time: any TimeSource
    ) {
        self.device = device
        self.settings = settings
        self.wake = wake
        self.sink = sink
        self.conditions = conditions
        self.time = time
        decoder = ScanDecoder(streams, of: device)
    }

    /// Nil when it was woken to end; else why it cannot go on.
    func run() -> IIOError? {
        let buffer = BufferSettings(device, settings)
        defer { buffer.disable() }
        do throws(IIOError) {
            let plan = try buffer.enable(decoder.channels)
            try decoder.begin(plan)
            let node = IIORoot(settings.root).node(device.id)
            let file = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { throw IIOError(KernelFailure(errno), node) }
            defer { close(file) }
            return try read(file, plan, node)
        } catch {
            return error
        }
    }

    private func read(_ file: Int32, _ plan: BufferSettings.Plan, _ node: String) throws(IIOError) -> IIOError? {
        // Nothing that the sensor's memory held before this start belongs to it.
        decoder.dropsOlder = time.wall()
        // With a watermark the kernel wakes us; a slow sensor that does not reach it is looked at now and then.
        let batch = settings.mode == .batch ? settings.batch : .milliseconds(plan.hasWatermark ? 1_000 : 100)
        var due = time.boot().advanced(by: batch)
        while true {
            let event = wait(file, usesWatermark: plan.hasWatermark, until: due)
            if event == .woken {
                // What is in the sensor's memory belongs to the time before the stop.
                _ = try drain(file, node)
                return nil
            }
            if event == .ready || event == .due {
                guard try drain(file, node) else {
                    return IIOError(.error("\(node) has ended: the driver was unloaded, or it is no device."))
                }
                due = time.boot().advanced(by: batch)
            }
            if event != .ready, !KernelFile.exists("\(device.folder)/name") { return IIOError(.gone, device.folder) }
        }
    }

    private enum Event {
        case woken
        case ready
        case due
        case nothing
    }

    private func wait(_ file: Int32, usesWatermark: Bool, until due: BootInstant) -> Event {
        let rest = time.boot().duration(to: due).nanoseconds / 1_000_000 + 1
        let timeout = Int32(clamping: min(max(rest, 0), Int64(BufferSession.longestWait)))
        var waiting = [
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            // Without a watermark the kernel would wake us for every scan.
            pollfd(fd: usesWatermark ? file : -1, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&waiting, 2, timeout)
        // The whole rest was waited for, or only a part of it.
        if count == 0 { return rest <= Int64(BufferSession.longestWait) ? .due : .nothing }
        guard count > 0 else { return .nothing }
        if waiting[0].revents != 0 { return .woken }
        return waiting[1].revents != 0 ? .ready : .nothing
    }

    /// Reads everything that is there; false at the end of the file.
    private func drain(_ file: Int32, _ node: String) throws(IIOError) -> Bool {
        while true {
            let room = decoder.room
            let count = Glibc.read(file, room.baseAddress, room.count)
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                if code == EAGAIN { return true }
                throw IIOError(KernelFailure(code), node)
            }
            guard count > 0 else { return false }
            decoder.take(count, into: sink, conditions, time: time)
            // Less than asked for is all that there was.
            if count < room.count { return true }
        }
    }
}
