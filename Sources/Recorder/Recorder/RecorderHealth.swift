/// How a recorder is.
public struct RecorderHealth: Sendable {
    /// What the newest commit failed with, and what is tried again; nil while all is well.
    public var failure: RecorderError?
    /// Whether what a damaged file holds is being put back.
    public var isSalvaging: Bool
    /// Samples of damaged files that this process has put back.
    public var salvaged: Int
    /// Damaged files that lie beside the recordings, set aside by this or an earlier process.
    public var damagedFiles: [String]

    /// Whether the disk is full.
    public var isDiskFull: Bool { failure?.isFull ?? false }
}

extension RecorderStore {
    /// How the recorder is now.
    public var health: RecorderHealth {
        RecorderHealth(
            failure: condition,
            isSalvaging: isSalvaging,
            salvaged: salvaged,
            damagedFiles: files.damaged()
        )
    }
}
