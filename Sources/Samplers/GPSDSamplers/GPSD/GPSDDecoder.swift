// gpsd's JSON (protocol 3): what a client sees on TCP 2947, one object a line.
//
// Units: degrees, metres, m/s, UTC. Rate: an epoch a second, sometimes 10; one epoch may give several TPV. What goes
// wrong: everything but class and mode may be absent; a TPV without a time belongs to the running epoch; magtrack is wrong
// in 3.22; raw NMEA lines stand in between.
internal import Diagnostics
internal import FastJSON
public import Samples

/// Reads gpsd's reports: the TPV objects of one time make one fix.
public final class GPSDDecoder: TrackDecoder {
    /// Only `location`.
    public let streams = [TrackStreams.location]
    /// Lines that were no JSON, and positions that were none.
    public var rejected: Int { rejections.count + lines.tooLong }
    /// What was wrong with the first of them.
    public var rejectedExample: String? { rejections.example }

    private var lines = Lines()
    private var rejections = Rejections()
    private var fix: PositionFix?

    /// gpsd guesses errors for 95 %; two of three lie within this part of them (both of a round normal distribution).
    private static let share = 1.51 / 2.45

    /// Makes a decoder.
    public init() {}

    /// Reads the next bytes.
    public func decode(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> [TrackSample] {
        var samples: [TrackSample] = []
        var lines = lines
        lines.add(bytes, isLast: isLast) { line in
            guard line.first == UInt8(ascii: "{") else { return }
            do throws(JSONError) {
                read(try JSON.parse(line), &samples)
            } catch {
                rejections.add("\(error)")
            }
        }
        self.lines = lines
        if isLast { close(&samples) }
        return samples
    }

    private func read(_ report: JSON, _ samples: inout [TrackSample]) {
        guard report["class"]?.string == "TPV", let mode = report["mode"]?.int else { return }
        let time = report["time"]?.string.flatMap { Timestamp(iso8601: $0) }
        if let time, let fix, fix.time != time { close(&samples) }
        guard mode >= 2, let latitude = report["lat"]?.double, let longitude = report["lon"]?.double else { return }
        guard let place = GeoPosition(latitude: latitude, longitude: longitude), !place.isNull else {
            return rejections.add("a position that is none")
        }
        guard let time = time ?? fix?.time else { return }
        var next = fix ?? PositionFix(time: time, place: place)
        next.place = place
        if mode >= 3 { next.altitude = altitude(report) ?? next.altitude }
        next.accuracy = accuracy(report) ?? next.accuracy
        next.speed = number(report["speed"], in: 0...600) ?? next.speed
        next.course = number(report["track"], in: 0...360) ?? next.course
        fix = next
    }

    private func altitude(_ report: JSON) -> Double? {
        let range = -1_000.0...100_000
        if let above = number(report["altMSL"], in: range) ?? number(report["alt"], in: range) { return above }
        guard let height = number(report["altHAE"], in: range), let geoid = number(report["geoidSep"], in: -200...200)
        else { return nil }
        return height - geoid
    }

    private func accuracy(_ report: JSON) -> Double? {
        let range = 0.0...1e6
        if let circle = number(report["eph"], in: range) { return circle * GPSDDecoder.share }
        guard let east = number(report["epx"], in: range), let north = number(report["epy"], in: range) else {
            return nil
        }
        return (east * east + north * north).squareRoot() * GPSDDecoder.share
    }

    private func number(_ value: JSON?, in range: ClosedRange<Double>) -> Double? {
        guard let number = value?.double, range.contains(number) else { return nil }
        return number
    }

    private func close(_ samples: inout [TrackSample]) {
        if let fix { samples.append(TrackSample(fix)) }
        fix = nil
    }
}
