public import Samples

/// The format of an exported session.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// A file a stream, `STREAM.csv`, and `_marks.csv` where there are marks.
    case csv
    /// One file, `session-ID.jsonl`, all streams and marks in the order of time.
    case jsonl
    /// One file, `session-ID.gpx`, a track for each stream with a place.
    case gpx
}

/// What an export has written.
public struct ExportReport: Sendable, Hashable {
    /// The files' paths, in the order of writing.
    public internal(set) var files: [String] = []
    /// The number of samples of each stream.
    public internal(set) var samples: [Name: Int] = [:]
}
