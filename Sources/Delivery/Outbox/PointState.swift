/// Where a point in the outbox stands.
public enum PointState: String, Sendable, Hashable, CaseIterable {
    /// It may be sent.
    case waiting
    /// It was handed to a link, which has not said yet what became of it.
    case sending
    /// It was handed to a link and nobody knows what became of it: it is to be looked up before it is sent again.
    case doubt
    /// It must not be sent until `release`.
    case held
    /// It was made while the wall clock was wrong, and waits for its right time.
    case untimed

    /// The number that stands in the file.
    var code: Int {
        switch self {
        case .waiting: 0
        case .sending: 1
        case .doubt: 2
        case .held: 3
        case .untimed: 4
        }
    }

    init?(code: Int) {
        guard let state = PointState.allCases.first(where: { $0.code == code }) else { return nil }
        self = state
    }
}

/// Why a point left the outbox unsent.
public enum EvictionCause: String, Sendable, Hashable, CaseIterable {
    /// The outbox had as many bytes as it may have.
    case full
    /// It was older than `max_age`.
    case age
    /// The disk was full.
    case disk
    /// Points came faster than the disk takes them.
    case buffer
    /// The file was damaged where it stood.
    case damage
    /// A user dropped it.
    case command
    /// The publisher could not send it truthfully any more.
    case late

    var code: Int {
        switch self {
        case .full: 0
        case .age: 1
        case .disk: 2
        case .buffer: 3
        case .damage: 4
        case .command: 5
        case .late: 6
        }
    }
}

/// The words under which the outbox itself puts points into the dead letters.
public enum DeadLetterReason {
    /// The point is of a boot that never had a right clock.
    public static let timeUnknown = "time unknown"
    /// The row does not hold what was written.
    public static let damaged = "damaged on the disk"
}
