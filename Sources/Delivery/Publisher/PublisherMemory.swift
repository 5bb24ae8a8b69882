public import Diagnostics

/// What the publisher keeps across restarts: what the account has used, hold-offs, and what is under way over MQTT.
public struct PublisherMemory: Sendable, Hashable, Codable {
    /// A point that went out over MQTT and has not left the outbox: it is looked for by this, also after a crash.
    struct Flight: Sendable, Hashable, Codable {
        var feed: String
        var text: String
        /// When it left, by the service's clock as far as it is known.
        var sentAt: Timestamp?
        /// The times of other points with the same text that went by REST and may stand near it.
        var others: [Timestamp] = []
    }

    /// The boot that its instants count from.
    var bootID: String
    /// When it was written.
    var writtenAt: BootInstant
    var budget: AccountBudget
    var holds = HoldOffs()
    var flights: [Int: Flight] = [:]
    /// When a point last went by REST: its echo may come later.
    var lastWrite: BootInstant?

    /// A memory that was lost: for as long as the service may still count what nobody remembers, nothing is sent.
    public static func lost(at now: BootInstant) -> PublisherMemory {
        var memory = PublisherMemory(
            bootID: BootID.current,
            writtenAt: now,
            budget: AccountBudget(plan: nil, share: 1, backlogShare: 0)
        )
        memory.holds.hold(.account, until: now.advanced(by: EventWindow.length), .starting)
        return memory
    }
}
