// GPX 1.0 and 1.1: tracks of points, in segments between which nothing is known.
//
// Units: degrees, metres, UTC or a stated offset. What goes wrong: points without time or height; times that go back from
// one track to the next; prefixes of namespaces and extensions that differ from program to program.
internal import Diagnostics
public import Samples
internal import XML

/// Reads the track points of a GPX document; each segment begins with a sample that says that nothing is known.
///
/// Points without a time get one, as if someone had gone from each to the next: at 2.5 m/s, but at most 15 s for one leg,
/// and never faster than 10 m/s. So lengths are right, and speeds and durations mean nothing.
public final class GPXDecoder: TrackDecoder {
    /// `location` and `heart_rate`.
    public let streams = [TrackStreams.location, TrackStreams.heartRate]
    /// Points without a place on earth, and the place at which the document stopped being one.
    public var rejected: Int { reading.rejections.count }
    /// What was wrong with the first of them.
    public var rejectedExample: String? { reading.rejections.example }
    /// How many points had no time of their own.
    public var untimed: Int { reading.untimed }

    private let reading = GPXReading()
    private let parser: XMLParser
    private var hasFailed = false

    /// Makes a decoder.
    public init() {
        parser = XMLParser(reading)
    }

    /// Reads the next bytes.
    public func decode(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> [TrackSample] {
        guard !hasFailed else { return [] }
        do throws(XMLError) {
            try parser.parse(bytes, isLast: isLast)
        } catch {
            hasFailed = true
            reading.rejections.add("\(error)")
        }
        return reading.take()
    }
}
