internal import FoundationEssentials
internal import Glibc

/// Folders that look like the `/proc` and `/sys` of a small computer, for a test to change.
///
/// Files are rewritten in place, as a kernel's file keeps its identity. What is removed is emptied first: a reader with an
/// open descriptor then reads nothing, where a kernel would answer `ENODEV`.
public final class FakeMachine: Sendable {
    private let directory = TemporaryDirectory()

    /// Stands for `/proc`.
    public var proc: String { directory.file("proc") }

    /// Stands for `/sys`.
    public var sys: String { directory.file("sys") }

    /// Stands for `/`.
    public var root: String { directory.path }

    /// Makes a machine without any file.
    public init() throws {
        for folder in ["proc/net", "sys/block", "sys/class/thermal", "sys/class/hwmon", "sys/devices"] {
            try FileManager.default.createDirectory(
                atPath: directory.file(folder),
                withIntermediateDirectories: true
            )
        }
    }

    /// Writes `text` and a line feed to a file such as `proc/loadavg`.
    public func write(_ text: String, to file: String) throws {
        try directory.write(text + "\n", to: file)
    }

    /// Empties and removes a file or a folder.
    public func remove(_ file: String) throws {
        let path = directory.file(file)
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [] {
            let inner = "\(path)/\(name)"
            if (try? FileManager.default.destinationOfSymbolicLink(atPath: inner)) == nil { truncate(inner, 0) }
        }
        truncate(path, 0)
        try FileManager.default.removeItem(atPath: path)
    }

    /// Makes a symbolic link at `file` to any path.
    public func link(_ file: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: directory.file(file), withDestinationPath: target)
    }

    /// Makes `file` one that may not be read, not even by root.
    public func forbid(_ file: String) throws {
        // A setting that the kernel lets nobody read; file modes would not stop root.
        try? remove(file)
        try link(file, to: "/proc/sys/vm/compact_memory")
    }

    /// Sets the ticks of each core: user and idle; the first line is their sum.
    public func setCores(_ cores: [(busy: Int, idle: Int)]) throws {
        let busy = cores.reduce(0) { $0 + $1.busy }
        let idle = cores.reduce(0) { $0 + $1.idle }
        var lines = ["cpu  \(busy) 0 0 \(idle) 0 0 0 0 0 0"]
        for (number, core) in cores.enumerated() {
            lines.append("cpu\(number) \(core.busy) 0 0 \(core.idle) 0 0 0 0 0 0")
        }
        lines.append("intr 122500 0 0 0")
        lines.append("ctxt 1990473")
        try write(lines.joined(separator: "\n"), to: "proc/stat")
    }

    /// Sets the network interfaces and their counters of bytes, beside `lo`.
    public func setNetwork(_ interfaces: [(name: String, received: UInt64, sent: UInt64)]) throws {
        var lines = [
            "Inter-|   Receive                                                |  Transmit",
            " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls",
        ]
        for (name, received, sent) in [("lo", 3193, 3193)] + interfaces {
            lines.append(
                "\(name): \(received)    2753    1    2    0     0          0         0   \(sent)    1428 0 0 0 0 0 0"
            )
        }
        try write(lines.joined(separator: "\n"), to: "proc/net/dev")
    }

    /// Sets the disks and their counters of sectors; those with `isWhole` stand in `/sys/block` too.
    public func setDisks(_ disks: [(name: String, isWhole: Bool, read: UInt64, written: UInt64)]) throws {
        let lines = disks.map { disk in
            " 179       0 \(disk.name) 33699 8208 \(disk.read) 20179 10703 5067 \(disk.written) 3579 0 7744 24028 0 0 0 0"
        }
        try write(lines.joined(separator: "\n"), to: "proc/diskstats")
        for disk in disks where disk.isWhole {
            try FileManager.default.createDirectory(
                atPath: "\(sys)/block/\(disk.name)",
                withIntermediateDirectories: true
            )
        }
    }

    /// Adds or changes a thermal zone.
    public func setThermalZone(_ number: Int, kind: String, _ value: String) throws {
        try write(kind, to: "sys/class/thermal/thermal_zone\(number)/type")
        try write(value, to: "sys/class/thermal/thermal_zone\(number)/temp")
    }

    /// Adds a chip `hwmonN` with its files; `device` is where it is connected.
    public func addChip(_ number: Int, name: String, device: String, _ files: [String: String]) throws {
        let folder = "sys/class/hwmon/hwmon\(number)"
        try write(name, to: "\(folder)/name")
        for (file, text) in files { try write(text, to: "\(folder)/\(file)") }
        let target = "\(sys)/devices/\(device)"
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        try link("\(folder)/device", to: target)
    }

    /// Adds a device `iio:deviceN` of Industrial I/O with its files; `device` is where it is connected.
    public func addIIODevice(_ number: Int, name: String, device: String, _ files: [String: String]) throws {
        let folder = "sys/devices/\(device)/iio:device\(number)"
        try write(name, to: "\(folder)/name")
        for (file, text) in files { try write(text, to: "\(folder)/\(file)") }
        let bus = directory.file("sys/bus/iio/devices")
        try FileManager.default.createDirectory(atPath: bus, withIntermediateDirectories: true)
        try link("sys/bus/iio/devices/iio:device\(number)", to: directory.file(folder))
    }

    /// Unplugs a device of Industrial I/O.
    public func removeIIODevice(_ number: Int) throws {
        let link = directory.file("sys/bus/iio/devices/iio:device\(number)")
        let folder = try FileManager.default.destinationOfSymbolicLink(atPath: link)
        try FileManager.default.removeItem(atPath: link)
        try remove(String(folder.dropFirst(root.count + 1)))
    }

    /// The text of a file, without the line feed at its end.
    public func read(_ file: String) throws -> String {
        var text = try directory.read(file)
        if text.last == "\n" { text.removeLast() }
        return text
    }

    /// Makes `file` one that may be read and not written, not even by root.
    public func forbidWriting(_ file: String) throws {
        try? remove(file)
        try link(file, to: "/proc/sys/kernel/osrelease")
    }
}
