internal import KernelFiles

/// A device of Industrial I/O as it was found, and what identifies it.
///
/// The number in `iio:deviceN` changes, so a device is known by its name, its label and where it is connected.
struct IIODevice: Sendable, Equatable {
    /// A channel that can be read.
    struct Channel: Sendable, Equatable {
        let name: ChannelName
        /// The file with the value, if there is one; some can only be read through the buffer.
        var valueFile: String?
        /// Whether the value is processed already: no offset, no scale.
        var isProcessed: Bool
        /// Whether there is a file with the scale.
        var hasScale: Bool
        /// Its place in a scan, and how it lies there.
        var index: Int?
        var type: ScanType?
    }

    /// `iio:device0`.
    let id: String
    /// Its folder below `/sys/bus/iio/devices`.
    let folder: String
    /// The driver's name for the part: `bmi323`.
    let name: String
    /// Where on the machine it is: `accel-display`.
    let label: String?
    /// The path with links followed: the bus and the address that it is connected to.
    let realPath: String
    /// The names of the files in its folder.
    let files: Set<String>
    /// What can be read, by name.
    let channels: [Channel]

    /// Looks at one folder; nil when it is no device or none with channels.
    init?(id: String, in root: IIORoot) {
        let folder = "\(root.devices)/\(id)"
        guard id.hasPrefix("iio:device"), let name = KernelFile.line("\(folder)/name"), !name.isEmpty else {
            return nil
        }
        self.id = id
        self.folder = folder
        self.name = name
        label = KernelFile.line("\(folder)/label").flatMap { $0.isEmpty ? nil : $0 }
        realPath = KernelFile.real(folder) ?? folder
        let files = Set(KernelFile.names(in: folder))
        self.files = files
        channels = IIODevice.channels(in: folder, files)
    }

    /// The folder with `_en`, `_index` and `_type`: the old place, or where newer kernels have it.
    var scanFolder: String { files.contains("scan_elements") ? "\(folder)/scan_elements" : "\(folder)/buffer0" }

    /// The folder with `enable`, `length` and `watermark`.
    var bufferFolder: String { files.contains("buffer") ? "\(folder)/buffer" : "\(folder)/buffer0" }

    /// Whether scans can be read through a buffer.
    var hasBuffer: Bool { channels.contains { $0.index != nil && $0.type != nil } }

    /// The first of the channel's files for `attribute` that is there.
    func file(_ attribute: String, of channel: ChannelName) -> String? {
        channel.files(attribute).first(where: files.contains).map { "\(folder)/\($0)" }
    }

    /// Whether it is the same device as `other` was, under whatever number.
    func isSame(as other: IIODevice) -> Bool {
        guard name == other.name, label == other.label else { return false }
        return IIODevice.place(realPath) == IIODevice.place(other.realPath)
    }

    /// Whether a person may mean this device by `text`: its name, its label, or the end of its path.
    func matches(_ text: String) -> Bool {
        if text == name || text == label { return true }
        return IIODevice.place(realPath).hasSuffix("/" + text)
    }

    /// Every device that is there, in an order that does not depend on the kernel's numbers.
    static func all(in root: IIORoot) -> [IIODevice] {
        KernelFile.names(in: root.devices)
            .compactMap { IIODevice(id: $0, in: root) }
            .sorted { ($0.name, $0.label ?? "", $0.realPath, $0.id) < ($1.name, $1.label ?? "", $1.realPath, $1.id) }
    }

    /// The path without the number that the kernel gave.
    private static func place(_ path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        return last.hasPrefix("iio:device") ? String(path.dropLast(last.count + 1)) : path
    }

    private static func channels(in folder: String, _ files: Set<String>) -> [Channel] {
        var found: [ChannelName: Channel] = [:]
        for file in files {
            guard let name = ChannelName(valueFile: file) else { continue }
            let isProcessed = file.hasSuffix("_input")
            // Where both are there, the processed one needs nothing more to be right.
            if found[name]?.valueFile != nil, !isProcessed { continue }
            found[name] = Channel(
                name: name,
                valueFile: file,
                isProcessed: isProcessed,
                hasScale: name.files("scale").contains(where: files.contains)
            )
        }
        let scans = files.contains("scan_elements") ? "\(folder)/scan_elements" : "\(folder)/buffer0"
        for file in KernelFile.names(in: scans) where file.hasPrefix("in_") && file.hasSuffix("_index") {
            let base = String(file.dropFirst(3).dropLast(6))
            guard let name = ChannelName(base: base),
                let index = KernelFile.line("\(scans)/\(file)").flatMap({ Int($0) }),
                let type = KernelFile.line("\(scans)/in_\(base)_type").flatMap({ ScanType($0) })
            else { continue }
            var channel =
                found[name]
                ?? Channel(
                    name: name,
                    isProcessed: false,
                    hasScale: name.files("scale").contains(where: files.contains)
                )
            channel.index = index
            channel.type = type
            found[name] = channel
        }
        return found.values.sorted { $0.name.base < $1.name.base }
    }
}
