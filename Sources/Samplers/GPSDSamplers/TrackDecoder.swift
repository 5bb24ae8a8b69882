public import Diagnostics
public import Samples

/// One sample that a decoder found.
public struct TrackSample: Sendable {
    /// Its stream: `location`, `heart_rate`, `pressure`, `geofence.owntracks`.
    public let stream: Samples.Stream
    /// When it was taken.
    public let time: Timestamp
    /// One value for each field of the stream.
    public let values: [Value]

    init(_ stream: Samples.Stream, _ time: Timestamp, _ values: [Value]) {
        self.stream = stream
        self.time = time
        self.values = values
    }

    init(_ fix: PositionFix) {
        self.init(TrackStreams.location, fix.time, fix.values)
    }

    /// Says that what follows does not belong to what came before: a position of which nothing is known.
    static func pause(at time: Timestamp) -> TrackSample {
        TrackSample(TrackStreams.location, time, Array(repeating: .missing, count: TrackStreams.location.fields.count))
    }
}

/// Reads positions out of the bytes of a file or a connection, in pieces of any size, with bounded memory.
///
/// Bad input costs itself only: it is counted, one example is kept, and the reading goes on.
public protocol TrackDecoder: AnyObject {
    /// Every stream that may come.
    var streams: [Samples.Stream] { get }

    /// Reads the next bytes; `isLast` when there are no more, so that what waited for more is given out.
    func decode(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> [TrackSample]

    /// How many pieces could not be used.
    var rejected: Int { get }

    /// What was wrong with the first of them.
    var rejectedExample: String? { get }
}

extension TrackDecoder {
    /// Reads the next bytes; `isLast` when there are no more, so that what waited for more is given out.
    public func decode(_ bytes: [UInt8], isLast: Bool) -> [TrackSample] {
        bytes.withUnsafeBytes { decode($0, isLast: isLast) }
    }
}

enum TrackStreams {
    static let location = known("location")
    static let heartRate = known("heart_rate")
    static let pressure = known("pressure")
    /// What OwnTracks says about regions that it watches itself.
    static let transitions = Samples.Stream(
        Name(mapping: "geofence.owntracks"),
        fields: KnownStreams.fields(of: Name(mapping: "geofence")) ?? []
    )

    private static func known(_ text: String) -> Samples.Stream {
        let name = Name(mapping: text)
        return Samples.Stream(name, fields: KnownStreams.fields(of: name) ?? [])
    }
}
