internal import KernelFiles
internal import Samples

/// `host.hwmon.CHIP` from `/sys/class/hwmon`: one stream a chip, one field a channel.
///
/// The number in `hwmonN` changes from boot to boot, so a chip is known by its name and the path of its device.
final class HwmonSource: HostSource {
    /// More channels than a stream has fields are left out.
    static let mostChannels = 64

    private struct Found {
        let name: String
        let device: String
        let folder: String
    }

    private struct Channel {
        let kind: HwmonKind
        let key: String
        let fileName: String
        let hasFault: Bool
        var file: KernelFile
        var fault: KernelFile?
    }

    private struct Chip {
        let name: String
        let device: String
        var folder: String
        var channels: [Channel]
        var isGone = false
    }

    let streams: [Stream]
    private let folder: String
    private var chips: [Chip] = []

    init(sys: String) {
        folder = "\(sys)/class/hwmon"
        var names = UniqueNames()
        var streams: [Stream] = []
        for found in HwmonSource.scan(folder) {
            let channels = HwmonSource.channels(in: found.folder)
            guard !channels.isEmpty else { continue }
            var fieldNames = UniqueNames()
            let fields = channels.map { channel in
                let label = KernelFile.line("\(found.folder)/\(channel.key)_label")
                let name = HwmonChannel.name(label: label, key: channel.key, kind: channel.kind)
                return Field(fieldNames.name("", name), unit: channel.kind.unit)
            }
            streams.append(Stream(names.name("host.hwmon.", found.name), fields: fields))
            chips.append(Chip(name: found.name, device: found.device, folder: found.folder, channels: channels))
        }
        self.streams = streams
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        if chips.contains(where: \.isGone) { findAgain() }
        for place in chips.indices { readings.append(read(place, buffer)) }
    }

    private func read(_ place: Int, _ buffer: ReadBuffer) -> HostReading {
        var values: [Value] = []
        values.reserveCapacity(chips[place].channels.count)
        var condition: SourceCondition?
        var gone = 0
        var hasValue = false
        for channel in chips[place].channels {
            var value = Value.missing
            do throws(KernelFailure) {
                var text = try channel.file.read(into: buffer)
                value = text.number().map { channel.kind.value($0) } ?? .missing
                if value != .missing, let fault = channel.fault, isFaulty(fault, buffer) { value = .missing }
            } catch {
                if error == .gone { gone += 1 }
                // What somebody can put right is told before what is only so.
                if condition == nil || error == .noPermission {
                    condition = error.condition(channel.file.path) ?? condition
                }
            }
            hasValue = hasValue || value != .missing
            values.append(value)
        }
        chips[place].isGone = gone == chips[place].channels.count
        if hasValue {
            if case .noPermission = condition {} else { condition = .ok }
            return HostReading(stream: place, values: values, condition: condition)
        }
        let silent = SourceCondition.missing("\(chips[place].folder) has no sensor connected.")
        return HostReading(stream: place, values: nil, condition: condition ?? silent)
    }

    private func isFaulty(_ file: KernelFile, _ buffer: ReadBuffer) -> Bool {
        guard var text = try? file.read(into: buffer) else { return false }
        return text.number() == 1
    }

    /// A chip that returns is known by its device; one plugged in elsewhere by its name, if no other chip has that name.
    private func findAgain() {
        let found = HwmonSource.scan(folder)
        for place in chips.indices where chips[place].isGone {
            let chip = chips[place]
            let same = found.first { $0.name == chip.name && $0.device == chip.device }
            let other = found.filter { now in
                now.name == chip.name && !chips.contains { $0.name == now.name && $0.device == now.device }
            }
            guard let now = same ?? (other.count == 1 ? other.first : nil) else { continue }
            chips[place].folder = now.folder
            for index in chip.channels.indices {
                let channel = chip.channels[index]
                chips[place].channels[index].file = KernelFile("\(now.folder)/\(channel.fileName)")
                if channel.hasFault {
                    chips[place].channels[index].fault = KernelFile("\(now.folder)/\(channel.key)_fault")
                }
            }
        }
    }

    private static func channels(in folder: String) -> [Channel] {
        let names = Set(KernelFile.names(in: folder))
        let all = names.compactMap { HwmonChannel(file: $0) }.sorted()
        var keys: Set<String> = []
        let first = all.filter { keys.insert($0.key).inserted }
        return first.prefix(mostChannels).map { channel in
            let hasFault = names.contains("\(channel.key)_fault")
            return Channel(
                kind: channel.kind,
                key: channel.key,
                fileName: channel.file,
                hasFault: hasFault,
                file: KernelFile("\(folder)/\(channel.file)"),
                fault: hasFault ? KernelFile("\(folder)/\(channel.key)_fault") : nil
            )
        }
    }

    private static func scan(_ folder: String) -> [Found] {
        KernelFile.names(in: folder)
            .compactMap { entry -> Found? in
                let chip = "\(folder)/\(entry)"
                guard entry.hasPrefix("hwmon"), let name = KernelFile.line("\(chip)/name") else { return nil }
                let device = KernelFile.real("\(chip)/device") ?? KernelFile.real(chip) ?? chip
                return Found(name: name, device: device, folder: chip)
            }
            .sorted { ($0.name, $0.device, $0.folder) < ($1.name, $1.device, $1.folder) }
    }
}
