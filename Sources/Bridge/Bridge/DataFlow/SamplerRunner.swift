internal import Diagnostics
internal import IIOSamplers
internal import Samples

/// Starts and stops samplers. Those with `always` run from the beginning; the others while the switch is on.
actor SamplerRunner {
    struct Entry {
        let settings: Configuration.Sampler
        let sampler: any Sampler
        var task: Task<Void, Never>?
        /// A stopped run that has not ended yet; the next one waits for it.
        var ending: Task<Void, Never>?

        /// Returns when nothing of it runs any more.
        func ended() async {
            await task?.value
            await ending?.value
        }
    }

    private var entries: [Entry] = []
    private var isRecording = false
    /// Streams that are needed while the switch is off, too.
    private var needed: Set<Name> = []
    private let flow: DataFlow
    private let time: any TimeSource
    private let log: Log

    init(flow: DataFlow, time: any TimeSource, log: Log) {
        self.flow = flow
        self.time = time
        self.log = log
    }

    /// Runs these samplers from now on: what was there with the same settings goes on, what is gone is stopped.
    ///
    /// A sampler with a stream of `needed` runs while the switch is off, too.
    func replace(
        with samplers: [(settings: Configuration.Sampler, sampler: any Sampler)],
        needed: Set<Name> = []
    ) async {
        self.needed = needed
        var kept: [Entry] = []
        var new: [(settings: Configuration.Sampler, sampler: any Sampler)] = []
        var old = entries
        for (settings, sampler) in samplers {
            if let index = old.firstIndex(where: { $0.settings.isSame(as: settings) }) {
                kept.append(old.remove(at: index))
            } else {
                new.append((settings, sampler))
            }
        }
        entries = kept
        for entry in old { entry.task?.cancel() }
        // First the old ones end: a new one may read the same device, and its streams may have the same names.
        for entry in old {
            await entry.ended()
            flow.withdraw(entry.sampler.streams)
        }
        for (settings, sampler) in new {
            flow.declare(sampler.streams, askedHertz: settings.askedHertz)
            entries.append(Entry(settings: settings, sampler: sampler))
        }
        apply()
    }

    /// Starts what the switch wants; nothing waits.
    func startRecording() {
        isRecording = true
        apply()
    }

    /// Stops what nobody needs, and returns when it has stopped.
    func stopRecording() async {
        isRecording = false
        apply()
        for entry in entries { await entry.ending?.value }
    }

    /// Stops everything, and returns when it has stopped.
    func stopAll() async {
        let all = entries
        entries = []
        for entry in all { entry.task?.cancel() }
        for entry in all { await entry.ended() }
    }

    /// The settings of the samplers with those that run now.
    func running() -> Set<Name> {
        Set(entries.filter { $0.task != nil }.flatMap { $0.sampler.streams.map(\.name) })
    }

    /// Every sampler.
    func samplers() -> [any Sampler] { entries.map(\.sampler) }

    private func apply() {
        for index in entries.indices {
            let settings = entries[index].settings
            let isNeeded =
                settings.always || settings.kind.isPush || isRecording
                || entries[index].sampler.streams.contains { needed.contains($0.name) }
            switch (entries[index].task, isNeeded) {
            case (nil, true):
                entries[index].task = start(entries[index].sampler, after: entries[index].ending)
                entries[index].ending = nil
            case (let task?, false):
                task.cancel()
                entries[index].ending = task
                entries[index].task = nil
            default:
                break
            }
        }
    }

    private func start(_ sampler: any Sampler, after ending: Task<Void, Never>?) -> Task<Void, Never> {
        let (flow, time, log) = (flow, time, log)
        return Task { @concurrent in
            await ending?.value
            flow.expect(sampler.streams)
            while !Task.isCancelled {
                do {
                    try await sampler.run(into: flow)
                    return
                } catch is CancellationError {
                    return
                } catch {
                    log.error("sampler \(sampler.kind) stopped: \(error). It is started again in 10 s")
                    for stream in sampler.streams { flow.report(.error("\(error)"), of: stream.name) }
                    try? await time.sleep(for: .seconds(10))
                }
            }
        }
    }
}

extension Configuration.Sampler {
    /// How often it is asked to read, if it is asked.
    var askedHertz: Double? {
        switch kind {
        case .host(let every): 1 / every.inSeconds
        case .iio(let iio):
            switch iio.mode {
            case .poll: 1 / iio.every.inSeconds
            case .buffer: iio.rate
            // Nothing comes between two batches: that is no silence.
            case .batch: nil
            }
        case .image, .replay, .push, .phyphox, .bluetooth, .sensorProxy: nil
        }
    }

    /// Whether nothing but the place in the file differs.
    func isSame(as other: Configuration.Sampler) -> Bool {
        kind == other.kind && always == other.always
    }
}
