internal import Glibc
internal import KernelFiles
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

extension KernelFailure {
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
        case .nothing, .busy:
            nil
        case .other(let code):
            .error("\(path) cannot be read: \(String(cString: strerror(code))). The driver or the sensor has a fault.")
        }
    }
}
