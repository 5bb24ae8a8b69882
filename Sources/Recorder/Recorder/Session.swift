public import Diagnostics
public import Samples

/// Why a session was started or ended: the words of the contract.
public enum SessionReason: String, Sendable, Hashable, CaseIterable {
    /// The switch on a dashboard.
    case dashboard
    /// A local command.
    case command
    /// A schedule.
    case schedule
    /// A limit: the longest session, the smallest free disk.
    case limit
    /// An alert.
    case alert
    /// An import of a file.
    case `import`
    /// A failure.
    case error
}

/// One recording, from start to stop.
public struct Session: Sendable, Hashable, Identifiable {
    /// What a session is doing.
    public enum State: String, Sendable, Hashable {
        /// It is being recorded.
        case running
        /// It was stopped.
        case ended
        /// The recording process went away without stopping it.
        case interrupted
    }

    /// The number by which commands name it.
    public let id: Int64
    /// When the start was called for.
    public let start: Timestamp
    /// When it was stopped; of an interrupted one, the time of its newest sample; nil while it runs.
    public let end: Timestamp?
    /// Why it was started.
    public let reason: SessionReason
    /// Why it was ended.
    public let endReason: SessionReason?
    /// What it is doing.
    public let state: State
    /// The machine that recorded it.
    public let host: String
    /// The version of the program that recorded it.
    public let software: String
    /// The number of samples of each stream.
    public let samples: [Name: Int]
    /// The number of samples of each stream that a full buffer dropped.
    public let dropped: [Name: Int]
    /// All samples that a full buffer dropped while it ran.
    public let drops: Int
    /// Whether its times are those of a clock that was never put right.
    public let isUnsynchronised: Bool
}

/// A remark at a moment of a recording.
public struct Mark: Sendable, Hashable {
    /// The moment.
    public let time: Timestamp
    /// The remark.
    public let text: String

    /// Makes a mark.
    public init(time: Timestamp, text: String) {
        self.time = time
        self.text = text
    }
}

/// What is stored of a stream.
public struct RecordedStream: Sendable, Hashable {
    /// The stream's name.
    public let name: Name
    /// Every column there is, also those of fields that the stream no longer has.
    public let columns: [RecordedColumn]
    /// The number of samples, sessions and always store together.
    public let samples: Int
    /// The time of the first sample, if there is one.
    public let first: Timestamp?
    /// The time of the last sample, if there is one.
    public let last: Timestamp?
}

/// A column of a stored stream.
public struct RecordedColumn: Sendable, Hashable {
    /// The name in the database and in exports: the field's, or `_2_FIELD` after its unit or kind has changed.
    public let name: String
    /// The field.
    public let field: Name
    /// The unit of every value.
    public let unit: Unit
    /// What every value is.
    public let kind: FieldKind
}
