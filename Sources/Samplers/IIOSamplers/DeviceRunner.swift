internal import Diagnostics
internal import KernelFiles
internal import Samples

/// Reads one device for as long as it is wanted, whether it is there or not.
struct DeviceRunner: Sendable {
    let plans: [StreamPlan]
    /// The device as it was found first, if it was there.
    let known: IIODevice?
    /// The devices that others read: this one is none of them.
    let others: [IIODevice]
    let settings: IIOConfiguration
    let time: any TimeSource

    /// Reads until the task is cancelled.
    func run(into sink: any SampleSink) async throws {
        let poll = DevicePoll(settings, time: time)
        let conditions = Conditions(sink)
        var known = known
        var delay = BackOff()
        while true {
            try Task.checkCancellation()
            let begin = time.boot()
            var failure = DeviceRunner.missing(known, settings)
            if let device = await poll.find(known, others: others) {
                known = device
                guard let ended = await read(device, poll, conditions, sink) else { throw CancellationError() }
                // Without the number of its folder, which will be another one next time.
                if case .missing = ended.condition {} else { failure = ended }
            }
            for plan in plans { conditions.report(failure.condition, of: plan.stream.name) }
            try Task.checkCancellation()
            let lived = begin.duration(to: time.boot())
            try await time.sleep(for: max(failure.patience, delay.next(lived: lived)))
        }
    }

    /// What is said of a device that is not there.
    static func missing(_ known: IIODevice?, _ settings: IIOConfiguration) -> IIOError {
        let name = known?.label ?? known?.name ?? settings.device ?? "The device"
        return IIOError(
            .missing("\(name) is not there: it was unplugged or its driver unloaded. It is taken up when it returns.")
        )
    }

    /// Reads a device that is there; nil when it was cancelled, else why it ended.
    private func read(
        _ device: IIODevice,
        _ poll: DevicePoll,
        _ conditions: Conditions,
        _ sink: any SampleSink
    ) async -> IIOError? {
        let collected =
            settings.mode == .poll
            ? []
            : plans.filter { plan in
                plan.inputs.contains { input in device.channels.contains { $0.name == input.channel && $0.type != nil }
                }
            }
        let asked = plans.filter { plan in !collected.contains(plan) }
        return await withTaskGroup(of: IIOError?.self) { group in
            if !collected.isEmpty {
                group.addTask { await collect(collected, of: device, conditions, sink) }
            }
            if !asked.isEmpty {
                // Beside a buffer only what is slow is left to ask for.
                let every = collected.isEmpty ? settings.every : max(settings.every, .seconds(1))
                group.addTask { await ask(asked, every: every, of: device, poll, conditions, sink) }
            }
            var failure: IIOError?
            for await ended in group {
                failure = failure ?? ended
                group.cancelAll()
            }
            return failure
        }
    }

    /// Asks for values every so often without drift; a pass that comes too late is left out, not made up for.
    private func ask(
        _ plans: [StreamPlan],
        every: Duration,
        of device: IIODevice,
        _ poll: DevicePoll,
        _ conditions: Conditions,
        _ sink: any SampleSink
    ) async -> IIOError? {
        await poll.begin(plans, of: device, conditions, sink: sink)
        var due = time.boot()
        var failure: IIOError?
        while !Task.isCancelled {
            do throws(IIOError) {
                try await poll.pass(into: sink, conditions)
            } catch {
                failure = error
                break
            }
            due = due.advanced(by: every)
            let now = time.boot()
            if due < now {
                let missed = due.duration(to: now).nanoseconds / max(every.nanoseconds, 1) + 1
                due = due.advanced(by: every * Int(clamping: missed))
            }
            guard (try? await time.sleep(until: due)) != nil else { break }
        }
        await poll.end()
        return failure
    }

    /// Has the kernel collect scans, and reads them on a thread of its own.
    private func collect(
        _ plans: [StreamPlan],
        of device: IIODevice,
        _ conditions: Conditions,
        _ sink: any SampleSink
    ) async -> IIOError? {
        guard let wake = Wake() else {
            return IIOError(.error("there is no file descriptor left for \(device.name)."), patience: .seconds(10))
        }
        let (settings, time) = (settings, time)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                OwnThread.start(name: "iio") {
                    let streams = BoundStream.bind(plans, to: device, settings) { stream, text in
                        sink.report(.error(text), of: stream)
                    }
                    let session = BufferSession(
                        streams,
                        of: device,
                        settings,
                        wake: wake,
                        sink: sink,
                        conditions: conditions,
                        time: time
                    )
                    continuation.resume(returning: session.run())
                }
            }
        } onCancel: {
            wake.signal()
        }
    }
}

/// How long to wait before a device is tried again: from one second to half a minute.
struct BackOff {
    private var last = Duration.zero

    /// The next wait; a device that worked for a while is tried again soon.
    mutating func next(lived: Duration) -> Duration {
        last = lived >= .seconds(30) || last == .zero ? .seconds(1) : min(last * 2, .seconds(30))
        return last
    }
}
