public import Samples

/// A recording that others made, read from its start to its end: samples of the streams that it holds.
///
/// Not thread-safe and blocking: its owner runs on an executor or a thread of its own.
public protocol RecordedSource {
    /// Every stream that it may give.
    var streams: [Stream] { get }

    /// The next samples, some of each stream; nil at the end.
    mutating func next() throws(ReplayError) -> [SampleBatch]?

    /// Pieces that could not be used so far.
    var rejects: Int { get }

    /// Why the first of them could not, and where it stands.
    var example: String { get }
}

/// How a recording is written.
public enum RecordingFormat: String, Sendable, CaseIterable {
    /// Rows of numbers, with a header or with columns that were named.
    case csv
    /// What the app Sensor Logger exports or sends.
    case sensorlogger
}

/// What is said about a recording, where it does not say so itself.
public struct RecordingOptions: Sendable {
    /// How the file is written; nil: its content says.
    public var format: RecordingFormat?
    /// What each column is, by the words of `--columns`.
    public var columns: [String]?
    /// Rows a second, where there is no time.
    public var rate: Double?
    /// The unit of accelerations: `g`, `m/s2` or `raw`.
    public var accelerationUnit: String?
    /// The unit of rates of rotation: `deg/s` or `rad/s`.
    public var gyroscopeUnit: String?
    /// The unit of magnetic fields: `uT` or `gauss`.
    public var magneticUnit: String?
    /// Whether accelerations have the sign of an iPhone: -1 g on z at rest, face up.
    public var hasPhoneSign = false

    /// Says nothing.
    public init() {}
}

/// Opens recordings.
public enum RecordedFile {
    /// Opens the file at `path`, plain or gzip.
    public static func open(_ path: String, _ options: RecordingOptions) throws(ReplayError) -> any RecordedSource {
        let format: RecordingFormat
        if let asked = options.format { format = asked } else { format = try self.format(path) }
        switch format {
        case .csv: return try RecordedTable(path, options)
        case .sensorlogger: return try SensorLoggerFile(path, options)
        }
    }

    /// The format that the first line shows.
    private static func format(_ path: String) throws(ReplayError) -> RecordingFormat {
        let lines = try FieldFinder.open(path)
        while let line = try FieldFinder.next(lines) {
            guard case .text(let bytes) = line else { return .sensorlogger }
            guard let first = bytes.first(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
            return first == UInt8(ascii: "[") || first == UInt8(ascii: "{") ? .sensorlogger : .csv
        }
        return .csv
    }
}
