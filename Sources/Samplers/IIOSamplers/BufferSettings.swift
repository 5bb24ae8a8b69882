internal import KernelFiles
internal import Samples

/// Sets a device up to collect scans, and back.
struct BufferSettings {
    /// What the device collects once it is set up.
    struct Plan {
        let layout: ScanLayout
        let clock: ScanClock.Base
        /// Scans a second, if the device says so.
        let hertz: Double?
        /// Whether the kernel wakes us when enough scans wait; else we look ourselves.
        let hasWatermark: Bool
    }

    private let device: IIODevice
    private let settings: IIOConfiguration
    private let root: IIORoot

    init(_ device: IIODevice, _ settings: IIOConfiguration) {
        self.device = device
        self.settings = settings
        root = IIORoot(settings.root)
    }

    /// Sets up everything for these channels and switches the buffer on.
    ///
    /// The order is the kernel's: off, elements, rate, trigger, length, watermark, on.
    func enable(_ channels: [IIODevice.Channel]) throws(IIOError) -> Plan {
        // An earlier run that was killed may have left it on; then nothing could be set.
        try write("0", to: "\(device.bufferFolder)/enable")
        let clock = chooseClock()
        let layout = try enableElements(channels)
        try setRate(channels)
        let hertz = readRate(channels)
        try setTrigger()
        let hasWatermark = try setLength(scanSize: layout.size, hertz: hertz)
        try write("1", to: "\(device.bufferFolder)/enable")
        return Plan(
            layout: layout,
            clock: layout.timestamp == nil ? .none : clock,
            hertz: hertz,
            hasWatermark: hasWatermark
        )
    }

    /// Switches the buffer off, whatever state it is in: else the next start would find it busy.
    func disable() {
        try? KernelFile.write("0", to: "\(device.bufferFolder)/enable")
    }

    /// The boot-time clock where the device lets us: no step of the wall clock moves it.
    private func chooseClock() -> ScanClock.Base {
        let file = "\(device.folder)/current_timestamp_clock"
        guard KernelFile.exists(file) else { return .wall }
        try? KernelFile.write("boottime", to: file)
        return ScanClock.Base(KernelFile.line(file))
    }

    private func enableElements(_ channels: [IIODevice.Channel]) throws(IIOError) -> ScanLayout {
        let wanted = Set(channels.map(\.name))
        var enabled: [(channel: ChannelName, index: Int, type: ScanType)] = []
        for channel in device.channels {
            guard let index = channel.index, let type = channel.type else { continue }
            let isTime = channel.name.type == "timestamp" && type.size == 8
            let isOn = wanted.contains(channel.name) || isTime
            let file = "\(device.scanFolder)/in_\(channel.name.base)_en"
            if KernelFile.line(file) != (isOn ? "1" : "0") { try write(isOn ? "1" : "0", to: file) }
            // A driver may be able to collect some sets of channels only: what it took is what counts.
            if KernelFile.line(file) == "1" { enabled.append((channel.name, index, type)) }
        }
        let layout = ScanLayout(enabled)
        guard !layout.elements.isEmpty else {
            throw IIOError(.error("\(device.folder) did not take any channel for its buffer. Use mode = \"poll\"."))
        }
        return layout
    }

    private func setRate(_ channels: [IIODevice.Channel]) throws(IIOError) {
        guard let rate = settings.rate else { return }
        for file in rateFiles(channels) {
            let available = KernelFile.line("\(file)_available").flatMap { AvailableRates($0) }
            try write(available?.text(for: rate) ?? decimal(rate), to: file)
        }
    }

    private func readRate(_ channels: [IIODevice.Channel]) -> Double? {
        let rates = rateFiles(channels).compactMap { number(inFile: $0) }.filter { $0 > 0 && $0.isFinite }
        return rates.max()
    }

    /// Where the rate is set: for each type, for the whole device, in its buffer, or in its trigger.
    private func rateFiles(_ channels: [IIODevice.Channel]) -> [String] {
        let own = channels.compactMap { device.file("sampling_frequency", of: $0.name) }
        if !own.isEmpty { return Array(Set(own)).sorted() }
        var others = ["\(device.bufferFolder)/sampling_frequency"]
        if let trigger = currentTrigger, let folder = trigger.folder { others.append("\(folder)/sampling_frequency") }
        return others.filter { KernelFile.exists($0) }
    }

    /// A device with a trigger file needs a trigger, unless its own memory starts the scans.
    private func setTrigger() throws(IIOError) {
        let file = "\(device.folder)/trigger/current_trigger"
        guard KernelFile.exists(file) else { return }
        if let wanted = settings.trigger { return try write(wanted, to: file) }
        guard KernelFile.line(file).map(\.isEmpty) ?? true else { return }
        let number = device.id.drop { !$0.isNumber }
        let own = triggers().filter { $0.name == "\(device.name)-dev\(number)" || $0.name.hasPrefix("\(device.name)-") }
        if let best = own.first(where: { $0.name == "\(device.name)-dev\(number)" }) ?? own.first {
            return try write(best.name, to: file)
        }
        let hasOwnMemory = KernelFile.exists("\(device.bufferFolder)/hwfifo_enabled")
        guard hasOwnMemory else {
            throw IIOError(
                .error(
                    "\(device.name) needs a trigger and has none. Make one "
                        + "(modprobe iio-trig-hrtimer; mkdir /sys/kernel/config/iio/triggers/hrtimer/feedbridge) "
                        + "and set trigger = \"feedbridge\", or use mode = \"poll\"."
                ),
                patience: .seconds(10)
            )
        }
    }

    private var currentTrigger: (name: String, folder: String?)? {
        guard let name = settings.trigger ?? KernelFile.line("\(device.folder)/trigger/current_trigger"), !name.isEmpty
        else { return nil }
        return (name, triggers().first { $0.name == name }?.folder)
    }

    private func triggers() -> [(name: String, folder: String)] {
        KernelFile.names(in: root.devices).filter { $0.hasPrefix("trigger") }.sorted().compactMap { entry in
            let folder = "\(root.devices)/\(entry)"
            return KernelFile.line("\(folder)/name").map { ($0, folder) }
        }
    }

    /// Room for some wake-ups' worth of scans; a watermark so that we are woken seldom. Whether there is a watermark.
    private func setLength(scanSize: Int, hertz: Double?) throws(IIOError) -> Bool {
        let seconds = settings.mode == .batch ? settings.batch.seconds : 0.1
        let memory = number(inFile: "\(device.bufferFolder)/hwfifo_watermark_max").flatMap { $0 >= 1 ? $0 : nil }
        let most = 16_384.0
        var mark = ((hertz ?? 10) * seconds).rounded(.down)
        // The sensor's own memory must not be full before it is emptied.
        if settings.mode == .batch, let memory { mark = min(mark, max(1, (memory * 0.75).rounded(.down))) }
        mark = min(max(mark, 1), most)
        let length = Int(max(mark * 4, 64))
        try write("\(length)", to: "\(device.bufferFolder)/length")
        let file = "\(device.bufferFolder)/watermark"
        guard KernelFile.exists(file) else { return false }
        try write("\(Int(mark))", to: file)
        return true
    }

    private func write(_ text: String, to file: String) throws(IIOError) {
        do throws(KernelFailure) {
            try KernelFile.write(text, to: file)
        } catch {
            throw IIOError(error, file)
        }
    }
}

extension Duration {
    /// In seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
