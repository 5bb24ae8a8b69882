internal import Glibc
internal import Samples

/// What one pass found of one stream.
struct HostReading {
    /// The stream's place in the source.
    let stream: Int
    /// One value a field; nil when there is no sample this time.
    let values: [Value]?
    /// How the source is doing; nil when this pass says nothing about it.
    let condition: SourceCondition?
}

/// One kind of reading of this machine: a file of `/proc`, or a class of `/sys`.
///
/// It belongs to one `HostReader` and is used on its executor only.
protocol HostSource: AnyObject {
    /// What it can give; fixed when it is made.
    var streams: [Stream] { get }

    /// Reads once; `seconds` have passed since the last time, nil for the first.
    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading])
}

extension HostFailure {
    /// What to report of the stream that is read from `path`; nil when it is only for the moment.
    func condition(_ path: String) -> SourceCondition? {
        switch self {
        case .gone:
            .missing(
                "\(path) is not there: its device was unplugged or its driver unloaded. It is taken up when it returns."
            )
        case .noPermission:
            .noPermission(
                "\(path) may not be read by user \(getuid()). Give its group the right with a udev rule "
                    + "(chgrp and chmod g+r) and put the user of feedbridge into that group."
            )
        case .nothing:
            nil
        case .other(let code):
            .error("\(path) cannot be read: \(String(cString: strerror(code))). The driver or the sensor has a fault.")
        }
    }
}

/// Names for things that may have the same one: the second `cpu` is `cpu_2`.
struct UniqueNames {
    private var used: Set<Name> = []

    /// `prefix` and the mapped `text`, with a number when it is taken.
    mutating func name(_ prefix: String, _ text: String) -> Name {
        let whole = Name(mapping: prefix + text)
        var candidate = whole
        var number = 2
        while !used.insert(candidate).inserted {
            let suffix = "_\(number)"
            candidate = Name(mapping: String(whole.text.prefix(64 - suffix.utf8.count)) + suffix)
            number += 1
        }
        return candidate
    }
}
