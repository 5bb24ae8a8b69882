internal import KernelFiles
internal import Samples

/// Rates of devices that stand in one file, a line each: network interfaces and disks.
final class CountersSource: HostSource {
    /// More devices than this are left out: a machine with hundreds of virtual interfaces would drown everything else.
    static let mostDevices = 48

    /// How a line of the file is read: the device's name, then its two counters.
    enum Format {
        /// `/proc/net/dev`: bytes received and sent.
        case network
        /// `/proc/diskstats`: sectors of 512 bytes read and written.
        case disk
    }

    private struct Device {
        let name: [UInt8]
        var incoming = RateMeter()
        var outgoing = RateMeter()
        var pass = 0
    }

    let streams: [Stream]
    private let file: KernelFile
    private let format: Format
    private var devices: [Device]
    private var pass = 0

    /// Nil when there is no such file.
    init?(proc: String, sys: String, _ format: Format) {
        self.format = format
        file = KernelFile("\(proc)/\(format == .network ? "net/dev" : "diskstats")", isLong: true)
        guard KernelFile.exists(file.path) else { return nil }
        var found: [String] = []
        _ = file.readOnce { text in
            while !text.isAtEnd {
                if let name = CountersSource.name(&text, format) { found.append(String(decoding: name, as: UTF8.self)) }
                text.skipLine()
            }
        }
        found.removeAll { name in
            switch format {
            case .network: name == "lo"
            case .disk: CountersSource.isLeftOut(disk: name, sys: sys)
            }
        }
        found = Array(found.prefix(CountersSource.mostDevices))
        var names = UniqueNames()
        let fields = (format == .network ? ["received", "sent"] : ["read", "written"])
            .map { Field(Name(mapping: $0), unit: .bytesPerSecond) }
        let prefix = format == .network ? "host.network." : "host.disk."
        streams = found.map { Stream(names.name(prefix, $0), fields: fields) }
        devices = found.map { Device(name: Array($0.utf8)) }
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        guard !devices.isEmpty else { return }
        pass += 1
        if seconds == nil { forgetAll() }
        do throws(KernelFailure) {
            var text = try file.read(into: buffer)
            var guess = 0
            while !text.isAtEnd {
                if let name = CountersSource.name(&text, format), let place = place(of: name, after: guess) {
                    guess = place + 1
                    readings.append(read(place, &text, seconds: seconds ?? 0))
                }
                text.skipLine()
            }
            for place in devices.indices where devices[place].pass != pass {
                forget(place)
                let name = String(decoding: devices[place].name, as: UTF8.self)
                let what = format == .network ? "network interface" : "disk"
                readings.append(
                    HostReading(
                        stream: place,
                        values: nil,
                        condition: .missing("\(what) \(name) is not there any more. It is taken up when it returns.")
                    )
                )
            }
        } catch {
            forgetAll()
            for place in devices.indices {
                readings.append(HostReading(stream: place, values: nil, condition: error.condition(file.path)))
            }
        }
    }

    private func read(_ place: Int, _ text: inout KernelText, seconds: Double) -> HostReading {
        devices[place].pass = pass
        let unit = format == .network ? 1.0 : 512.0
        if format == .disk { for _ in 0..<2 { text.skipWord() } }
        let incoming = text.count()
        for _ in 0..<(format == .network ? 7 : 3) { text.skipWord() }
        guard let incoming, let outgoing = text.count() else {
            forget(place)
            return HostReading(
                stream: place,
                values: nil,
                condition: .error("\(file.path) has a line without counters.")
            )
        }
        let rates = (
            devices[place].incoming.rate(of: incoming, unit: unit, seconds: seconds),
            devices[place].outgoing.rate(of: outgoing, unit: unit, seconds: seconds)
        )
        let values: [Value]? =
            rates.0 == nil && rates.1 == nil
            ? nil : [rates.0.map { Value($0) } ?? .missing, rates.1.map { Value($0) } ?? .missing]
        return HostReading(stream: place, values: values, condition: .ok)
    }

    private func place(of name: UnsafeRawBufferPointer, after guess: Int) -> Int? {
        if guess < devices.count, isEqual(name, devices[guess].name) { return guess }
        return devices.firstIndex { isEqual(name, $0.name) }
    }

    private func forget(_ place: Int) {
        devices[place].incoming.reset()
        devices[place].outgoing.reset()
    }

    private func forgetAll() {
        for place in devices.indices { forget(place) }
    }

    /// The name in a line; the cursor then stands before the first counter. Nil in a heading.
    private static func name(_ text: inout KernelText, _ format: Format) -> UnsafeRawBufferPointer? {
        switch format {
        case .network:
            let name = text.word(until: UInt8(ascii: ":"))
            return !name.isEmpty && text.skip(":") ? name : nil
        case .disk:
            guard text.count() != nil, text.count() != nil else { return nil }
            let name = text.word()
            // The reads and the merged reads come before the sectors.
            return name.isEmpty ? nil : name
        }
    }

    /// Partitions (their disk counts for them), loop devices, and disks that are memory in truth.
    private static func isLeftOut(disk name: String, sys: String) -> Bool {
        let isMemory = ["loop", "ram", "zram"].contains { prefix in
            name.hasPrefix(prefix) && name.dropFirst(prefix.count).allSatisfy(\.isNumber)
        }
        if isMemory { return true }
        guard KernelFile.exists("\(sys)/block") else { return false }
        return !KernelFile.exists("\(sys)/block/\(String(name.map { $0 == "/" ? "!" : $0 }))")
    }
}

/// Whether both hold the same bytes.
private func isEqual(_ left: UnsafeRawBufferPointer, _ right: [UInt8]) -> Bool {
    left.count == right.count && left.elementsEqual(right)
}
