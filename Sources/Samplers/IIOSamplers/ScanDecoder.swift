internal import Diagnostics
internal import KernelFiles
internal import Samples

/// Makes samples out of the bytes of a buffer. It belongs to one session.
struct ScanDecoder {
    private struct Element {
        let offset: Int
        let type: ScanType
        let place: Int
        let count: Int
        /// Nil until its files could be read.
        var calibration: Calibration?
        let channel: IIODevice.Channel
    }

    /// Scans from before this moment are left out, in the first reading only.
    var dropsOlder: Timestamp?

    private let device: IIODevice
    private var streams: [BoundStream]
    private var elements: [[Element]] = []
    private var layout = ScanLayout([])
    private var clock = ScanClock(.none, hertz: nil)
    private let memory = ScanMemory()
    /// How many bytes of a scan that is not whole yet are at the start of the memory.
    private var filled = 0
    private var calibrated: BootInstant?

    init(_ streams: [BoundStream], of device: IIODevice) {
        self.streams = streams
        self.device = device
    }

    /// The channels that are to be in a scan.
    var channels: [IIODevice.Channel] { streams.flatMap(\.channels).compactMap(\.self).filter { $0.type != nil } }

    /// Takes the layout that the device was set to.
    mutating func begin(_ plan: BufferSettings.Plan) throws(IIOError) {
        layout = plan.layout
        clock = ScanClock(plan.clock, hertz: plan.hertz)
        guard layout.size > 0, layout.size <= memory.bytes.count else {
            throw IIOError(.error("\(device.name) has scans of \(layout.size) bytes, which cannot be."))
        }
        elements = []
        for stream in streams {
            var place = 0
            var found: [Element] = []
            for (input, channel) in zip(stream.plan.inputs, stream.channels) {
                defer { place += input.count }
                guard let channel, let element = layout.elements.first(where: { $0.channel == channel.name }) else {
                    continue
                }
                found.append(
                    Element(
                        offset: element.offset,
                        type: element.type,
                        place: place,
                        count: min(input.count, element.type.count),
                        calibration: nil,
                        channel: channel
                    )
                )
            }
            elements.append(found)
        }
    }

    /// Where the next bytes are to be read to: whole scans, behind the start of one that is not whole.
    var room: UnsafeMutableRawBufferPointer {
        let size = max(layout.size, 1)
        return UnsafeMutableRawBufferPointer(rebasing: memory.bytes[filled..<(memory.bytes.count / size * size)])
    }

    /// Takes `count` bytes that were read into `room`.
    mutating func take(_ count: Int, into sink: any SampleSink, _ conditions: Conditions, time: any TimeSource) {
        let (wall, boot) = (time.wall(), time.boot())
        let available = filled + count
        let scans = available / layout.size
        let used = scans * layout.size
        defer {
            let rest = UnsafeRawBufferPointer(rebasing: memory.bytes[used..<available])
            memory.bytes.copyMemory(from: rest)
            filled = rest.count
        }
        guard scans > 0 else { return }
        let bytes = UnsafeRawBufferPointer(rebasing: memory.bytes[..<used])
        if calibrated.map({ $0.duration(to: boot) >= Poller.calibrationLife }) ?? true {
            calibrated = boot
            calibrate()
        }
        let raw = layout.timestamp.map { element in
            (0..<scans).map { element.type.integer(bytes, at: $0 * layout.size + element.offset) }
        }
        let (times, lost) = clock.times(raw ?? [], count: scans, wall: wall, boot: boot)
        var first = 0
        if let oldest = dropsOlder, clock.base != .other, clock.base != .none {
            first = times.firstIndex { $0 >= oldest } ?? scans
        }
        dropsOlder = nil
        for stream in streams.indices {
            let batch = decode(stream, bytes, from: first, times: times, arrival: boot)
            let name = batch.stream.name
            if lost > 0 { sink.reject(lost, of: name, example: "\(lost) scans that the full buffer dropped") }
            streams[stream].tellProblems(to: sink)
            guard !batch.isEmpty else { continue }
            conditions.report(.ok, of: name)
            sink.receive(batch)
            for row in 0..<batch.count where streams[stream].suspicion.isWatching {
                let text = streams[stream].suspicion.look(at: Array(batch.sample(row)), time: batch.times[row])
                if let text { sink.report(.error(text), of: name) }
            }
        }
    }

    private mutating func decode(
        _ stream: Int,
        _ bytes: UnsafeRawBufferPointer,
        from first: Int,
        times: [Timestamp],
        arrival: BootInstant
    ) -> SampleBatch {
        var batch = SampleBatch(streams[stream].plan.stream, arrival: arrival)
        batch.reserveCapacity(times.count - first)
        var numbers = [Double](repeating: .nan, count: streams[stream].plan.width)
        for scan in first..<times.count {
            let start = scan * layout.size
            for element in elements[stream] {
                guard let calibration = element.calibration else { continue }
                for repetition in 0..<element.count {
                    let offset = start + element.offset + repetition * element.type.storageBytes
                    numbers[element.place + repetition] = calibration.value(element.type.number(bytes, at: offset))
                }
            }
            guard let values = streams[stream].assembler.values(numbers) else { continue }
            batch.append(time: times[scan], values)
        }
        return batch
    }

    private mutating func calibrate() {
        for stream in elements.indices {
            for place in elements[stream].indices {
                let channel = elements[stream][place].channel
                // A device that has just gone keeps what it was: the scans that it left are still right.
                guard let read = try? Calibration.read(channel, of: device, forScans: true) else { continue }
                elements[stream][place].calibration = read
            }
        }
    }
}

/// The memory that scans are read into.
private final class ScanMemory {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    deinit { bytes.deallocate() }
}
