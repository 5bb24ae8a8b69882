public import Diagnostics

/// How an outbox is, beside its counts.
public struct OutboxCondition: Sendable {
    /// What the newest commit failed with, and what is tried again; nil while all is well.
    public var failure: OutboxError?
    /// Whether the disk is full: new points are dropped and counted.
    public var isDiskFull: Bool
    /// Whether what a damaged file holds is being put back.
    public var isSalvaging: Bool
    /// Points of damaged files that this process has put back.
    public var salvaged: Int
    /// Damaged files that lie beside the outbox, set aside by this or an earlier process.
    public var damagedFiles: [String]
    /// Bytes of the file and its log.
    public var bytes: Int
    /// The time of the oldest point.
    public var oldest: Timestamp?
}

extension OutboxStore {
    /// How the outbox is now.
    public var condition: OutboxCondition {
        OutboxCondition(
            failure: failure,
            isDiskFull: isDiskFull,
            isSalvaging: file?.isSalvaging ?? false,
            salvaged: salvaged,
            damagedFiles: files.damaged(),
            bytes: files.usedBytes(),
            oldest: (try? file?.oldestTime())?.map { Timestamp(nanoseconds: $0) }
        )
    }
}
