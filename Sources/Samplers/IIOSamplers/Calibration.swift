internal import Glibc
internal import KernelFiles

/// Offset and scale of a channel: its value is (raw + offset) * scale.
///
/// `calibbias` and `calibscale` are not among them: the hardware has applied those.
struct Calibration: Sendable, Equatable {
    var offset = 0.0
    var scale = 1.0

    func value(_ raw: Double) -> Double { (raw + offset) * scale }

    /// Reads the files of a channel for its value file, or for what lies in scans, which is never processed.
    static func read(
        _ channel: IIODevice.Channel,
        of device: IIODevice,
        forScans: Bool = false
    ) throws(KernelFailure) -> Calibration {
        // The number of a proximity sensor has no unit, and its threshold is in the raw one.
        guard forScans || !channel.isProcessed, channel.name.type != "proximity" else { return Calibration() }
        return Calibration(
            offset: try number("offset", channel, device) ?? 0,
            scale: try number("scale", channel, device) ?? 1
        )
    }

    private static func number(
        _ attribute: String,
        _ channel: IIODevice.Channel,
        _ device: IIODevice
    ) throws(KernelFailure) -> Double? {
        guard let file = device.file(attribute, of: channel.name) else { return nil }
        let buffer = ReadBuffer()
        defer { withExtendedLifetime(buffer) {} }
        var text = try KernelFile(file).read(into: buffer)
        // A scale that cannot be read is not one: a wrong reading would be worse than none.
        guard let number = text.number() else { throw .other(EINVAL) }
        return number
    }
}

/// The number in a file; nil when there is none.
func number(inFile path: String) -> Double? {
    KernelFile(path).readOnce { $0.number() } ?? nil
}
