internal import Diagnostics
internal import KernelFiles
internal import Samples

/// Asks one device for its values, on a queue of its own.
actor DevicePoll {
    private nonisolated let executor = BlockingExecutor(label: "feedbridge.iio")
    private let settings: IIOConfiguration
    private let time: any TimeSource

    init(_ settings: IIOConfiguration, time: any TimeSource) {
        self.settings = settings
        self.time = time
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var poller: Poller?

    /// The device by what is known of it, wherever it is now; nil when it is not there.
    func find(_ known: IIODevice?, others: [IIODevice]) -> IIODevice? {
        let there = IIODevice.all(in: IIORoot(settings.root))
        if let same = there.first(where: { device in known.map { device.isSame(as: $0) } ?? false }) { return same }
        let free = there.filter { device in !others.contains { device.isSame(as: $0) } }
        let candidates = free.filter { device in
            if let known { return device.name == known.name && device.label == known.label }
            return settings.device.map(device.matches) ?? false
        }
        return candidates.count == 1 || known == nil ? candidates.first : nil
    }

    /// Opens the channels of a device for these streams.
    func begin(_ plans: [StreamPlan], of device: IIODevice, _ conditions: Conditions, sink: any SampleSink) {
        let streams = BoundStream.bind(plans, to: device, settings) { stream, text in
            sink.report(.error(text), of: stream)
        }
        let poller = Poller(streams, of: device)
        poller.begin(conditions)
        self.poller = poller
    }

    /// Reads everything once; throws when the device is gone.
    func pass(into sink: any SampleSink, _ conditions: Conditions) throws(IIOError) {
        try poller?.pass(into: sink, conditions, time: time)
    }

    /// Closes everything.
    func end() { poller = nil }

    /// Reads everything once, for showing.
    func readings(_ plans: [StreamPlan], known: IIODevice?, others: [IIODevice]) -> [SensorReading] {
        guard let device = find(known, others: others) else {
            return plans.map { plan in
                SensorReading(
                    stream: plan.stream,
                    values: plan.stream.fields.map { _ in .missing },
                    condition: DeviceRunner.missing(known, settings).condition
                )
            }
        }
        let streams = BoundStream.bind(plans, to: device, settings) { _, _ in }
        return Poller(streams, of: device).readings(time: time)
    }
}
