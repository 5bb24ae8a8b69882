// Thread rule: a poller is used on the executor of its DevicePoll only: a sensor on a slow bus may take a while to answer.
internal import Diagnostics
internal import KernelFiles
internal import Samples

/// Asks the channels of one device for their values, pass by pass.
final class Poller {
    /// Scale and offset may be changed by another program: they are read again this often.
    static let calibrationLife = Duration.seconds(10)
    /// So many passes in a row a channel may be busy before that is told.
    static let busyPatience = 3

    private struct Source {
        let channel: IIODevice.Channel
        let file: KernelFile
        /// Its first number among those of the stream, and how many it gives.
        let place: Int
        let count: Int
        /// Nil until its files could be read.
        var calibration: Calibration?
        var calibrationFailure: KernelFailure?
        var busyPasses = 0
    }

    private let device: IIODevice
    private var streams: [BoundStream]
    private var sources: [[Source]]
    private var numbers: [[Double]]
    private let buffer = ReadBuffer()
    private var calibrated: BootInstant?

    init(_ streams: [BoundStream], of device: IIODevice) {
        self.device = device
        self.streams = streams
        sources = streams.map { stream in
            var place = 0
            return zip(stream.plan.inputs, stream.channels).compactMap { input, channel -> Source? in
                defer { place += input.count }
                guard let channel, let file = channel.valueFile else { return nil }
                return Source(
                    channel: channel,
                    file: KernelFile("\(device.folder)/\(file)"),
                    place: place,
                    count: input.count
                )
            }
        }
        numbers = streams.map { Array(repeating: .nan, count: $0.plan.width) }
    }

    /// Turns on what is off until somebody asks for it: a step counter.
    func begin(_ conditions: Conditions) {
        for stream in streams where stream.plan.shape == .steps {
            guard let channel = stream.channels[0], let file = device.file("en", of: channel.name) else { continue }
            do throws(KernelFailure) {
                if KernelFile.line(file) != "1" { try KernelFile.write("1", to: file) }
            } catch {
                conditions.report(IIOError(error, file).condition, of: stream.plan.stream.name)
            }
        }
    }

    /// Reads everything once; throws when the device is gone.
    func pass(into sink: any SampleSink, _ conditions: Conditions, time: any TimeSource) throws(IIOError) {
        try calibrate(now: time.boot())
        for place in streams.indices {
            let moment = time.wall()
            let (condition, gone) = read(place)
            if gone, !KernelFile.exists("\(device.folder)/name") { throw IIOError(.gone, device.folder) }
            let name = streams[place].plan.stream.name
            let values = gone ? nil : streams[place].assembler.values(numbers[place])
            streams[place].tellProblems(to: sink)
            guard let values else {
                if let condition { conditions.report(condition, of: name) }
                continue
            }
            // Of what somebody can put right is told even while other channels give values.
            if case .noPermission? = condition, let condition {
                conditions.report(condition, of: name)
            } else {
                conditions.report(.ok, of: name)
            }
            sink.receive(SampleBatch(streams[place].plan.stream, arrival: time.boot(), time: moment, values))
            if let text = streams[place].suspicion.look(at: values, time: moment) {
                sink.report(.error(text), of: name)
            }
        }
    }

    /// Reads everything once, for showing.
    func readings(time: any TimeSource) -> [SensorReading] {
        var failure: IIOError?
        do throws(IIOError) { try calibrate(now: time.boot()) } catch { failure = error }
        return streams.indices.map { place in
            let stream = streams[place].plan.stream
            let missing = stream.fields.map { _ in Value.missing }
            if let failure { return SensorReading(stream: stream, values: missing, condition: failure.condition) }
            let (condition, gone) = read(place, isPatient: false)
            guard !gone, let values = streams[place].assembler.values(numbers[place]) else {
                return SensorReading(stream: stream, values: missing, condition: condition ?? .silent)
            }
            return SensorReading(stream: stream, values: values, condition: .ok)
        }
    }

    /// Fills in the numbers of a stream: what is to be told about it, and whether nothing of it is there any more.
    private func read(_ stream: Int, isPatient: Bool = true) -> (SourceCondition?, gone: Bool) {
        for place in numbers[stream].indices { numbers[stream][place] = .nan }
        var condition: SourceCondition?
        var gone = 0
        for index in sources[stream].indices {
            let source = sources[stream][index]
            do throws(KernelFailure) {
                guard let calibration = source.calibration else { throw source.calibrationFailure ?? .nothing }
                var text = try source.file.read(into: buffer)
                for offset in 0..<source.count {
                    guard let number = text.number() else { break }
                    numbers[stream][source.place + offset] = calibration.value(number)
                }
                sources[stream][index].busyPasses = 0
            } catch {
                var isTold = true
                switch error {
                case .gone: gone += 1
                case .nothing: isTold = false
                case .busy:
                    sources[stream][index].busyPasses += 1
                    isTold = !isPatient || source.busyPasses + 1 >= Poller.busyPatience
                case .noPermission, .other: break
                }
                // What somebody can put right is told before what is only so.
                if isTold, condition == nil || error == .noPermission {
                    condition = IIOError(error, source.file.path).condition
                }
            }
        }
        if sources[stream].isEmpty {
            let isCollected = streams[stream].channels.contains { $0?.type != nil }
            let remedy =
                isCollected ? "It can be read through its buffer only: set mode = \"buffer\"." : "Its driver changed."
            condition = .missing("\(device.name) has no file for \(streams[stream].plan.stream.name). \(remedy)")
        }
        return (condition, gone == sources[stream].count)
    }

    private func calibrate(now: BootInstant) throws(IIOError) {
        if let calibrated, calibrated.duration(to: now) < Poller.calibrationLife { return }
        calibrated = now
        for stream in sources.indices {
            for index in sources[stream].indices {
                do throws(KernelFailure) {
                    sources[stream][index].calibration = try Calibration.read(
                        sources[stream][index].channel,
                        of: device
                    )
                    sources[stream][index].calibrationFailure = nil
                } catch {
                    // A single attribute that fails keeps what it was; else there is no reading until it can be read.
                    sources[stream][index].calibrationFailure = error
                    if error == .gone, !KernelFile.exists("\(device.folder)/name") {
                        throw IIOError(.gone, device.folder)
                    }
                }
            }
        }
    }
}
