internal import IIOSamplers
internal import ImageSamplers
internal import Samples

extension IIOConfiguration {
    init?(reading table: TableReader) {
        self.init()
        device = table.string("device")
        if device?.isEmpty == true { table.problem(at: "device", "device is empty: leave it out for every device") }
        channels = table.strings("channels")
        suffix = table.suffix()
        mode = table.word("mode", default: mode)
        every = table.duration("every") ?? every
        if every < .milliseconds(1) { table.problem(at: "every", "every must be at least \"1 ms\"") }
        rate = table.positive("rate")
        batch = table.duration("batch") ?? batch
        trigger = table.string("trigger")
        factor = table.number("factor") ?? factor
        nearLevel = table.positive("near_level")
        mountMatrix = table.string("mount_matrix")
        root = table.string("root") ?? root
        if let mountMatrix, !IIOConfiguration.isMountMatrix(mountMatrix) {
            table.problem(
                at: "mount_matrix",
                "mount_matrix must be like \"0, 1, 0; -1, 0, 0; 0, 0, 1\" and lose no axis, not \"\(mountMatrix)\""
            )
        }
        if factor == 0 || !factor.isFinite { table.problem(at: "factor", "factor must be a number other than 0") }
    }
}

extension ImageConfiguration {
    init?(reading table: TableReader) {
        let path = table.string("path")
        if path?.isEmpty ?? !table.has("path") {
            table.problem(at: "path", "path is missing: a picture, or a folder whose newest picture counts")
        }
        let every = table.duration("every") ?? .seconds(2)
        let suffix = table.suffix()
        guard let path, !path.isEmpty else { return nil }
        self.init(path: path, every: every, suffix: suffix)
    }
}

extension TableReader {
    /// What is put behind the names of streams.
    fileprivate func suffix() -> String? {
        guard let suffix = string("suffix") else { return nil }
        if Name("x.\(suffix)") == nil {
            problem(
                at: "suffix",
                "suffix \"\(suffix)\" is no part of a name: lower-case letters, digits and underscores"
            )
        }
        return suffix
    }

    /// A number above 0.
    fileprivate func positive(_ key: String) -> Double? {
        guard let number = number(key) else { return nil }
        guard number > 0, number.isFinite else {
            problem(at: key, "\(key) must be above 0, not \(number)")
            return nil
        }
        return number
    }
}
