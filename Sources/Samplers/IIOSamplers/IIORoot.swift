internal import KernelFiles

/// Where the kernel's folders are; a test has its own.
struct IIORoot: Sendable, Hashable {
    /// Empty for this machine.
    let path: String

    init(_ path: String) {
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The folder with a link for each device and trigger.
    var devices: String { "\(path)/sys/bus/iio/devices" }

    /// The file that the scans of a device are read from.
    func node(_ id: String) -> String { "\(path)/dev/\(id)" }

    /// A property that udev's rules gave to a device; `number` is its device number `243:0`, if it has one.
    func udevProperty(_ property: String, id: String, number: String?) -> String? {
        let record = number.map { "c\($0)" } ?? "+iio:\(id)"
        let prefix = "E:\(property)="
        return KernelFile("\(path)/run/udev/data/\(record)").readOnce { text in
            while !text.isAtEnd {
                let line = text.restOfLine()
                text.skipLine()
                if line.hasPrefix(prefix) { return String(line.dropFirst(prefix.count)) }
            }
            return nil
        } ?? nil
    }
}
