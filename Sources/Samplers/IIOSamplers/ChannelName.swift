/// What a channel is called in its files: `accel_x` of `in_accel_x_raw`.
struct ChannelName: Hashable, Sendable {
    /// `accel_x`, `voltage0`, `temp_object`, `rot_quaternion`.
    let base: String
    /// What is measured: `accel`.
    let type: String

    /// Reads `accel_x`; nil when there is no word in front.
    init?(base: String) {
        let known = ChannelKind.types.filter { type in
            guard base.hasPrefix(type) else { return false }
            guard let next = base.dropFirst(type.count).first else { return true }
            return next == "_" || next == "-" || next.isNumber
        }
        let type = known.max { $0.count < $1.count } ?? String(base.prefix { $0.isASCII && $0.isLetter })
        guard !type.isEmpty else { return nil }
        self.base = base
        self.type = type
    }

    /// Reads the name of a file with a value: `in_accel_x_raw` or `in_accel_x_input`.
    init?(valueFile file: String) {
        guard file.hasPrefix("in_") else { return nil }
        for ending in ["_raw", "_input"] where file.hasSuffix(ending) {
            let base = String(file.dropFirst(3).dropLast(ending.count))
            // Averages and peaks that a driver keeps are no readings.
            guard !base.hasSuffix("_mean"), !base.hasSuffix("_peak"), !base.hasSuffix("_trough") else { return nil }
            self.init(base: base)
            return
        }
        return nil
    }

    /// Which of several: `x`, `0`, `object`; empty when there is only one.
    var modifier: String { String(base.dropFirst(type.count).drop { $0 == "_" }) }

    /// The file of an attribute such as `scale`, from the channel's own to what all channels share.
    func files(_ attribute: String) -> [String] {
        var files = ["in_\(base)_\(attribute)"]
        if base.contains("-") { files.append("in_\(type)-\(type)_\(attribute)") }
        if base != type { files.append("in_\(type)_\(attribute)") }
        files.append(attribute)
        return files
    }
}
