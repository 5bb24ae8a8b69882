// OwnTracks' messages as files keep them: one JSON object a line, or the recorder's `time TAB kind TAB object`.
//
// Units: vel km/h, p kPa, tst seconds. What goes wrong: numbers come as texts; the same fix comes again with a later
// created_at; steps are called a location; a transition carries the position before it, so its place is not used.
internal import Diagnostics
internal import FastJSON
public import Samples

/// Reads OwnTracks' locations and transitions from a file.
public final class OwnTracksDecoder: TrackDecoder {
    /// `location`, `pressure` and `geofence.owntracks`.
    public let streams = [TrackStreams.location, TrackStreams.pressure, TrackStreams.transitions]
    /// Lines that were no message, and messages without time or place.
    public var rejected: Int { rejections.count + lines.tooLong }
    /// What was wrong with the first of them.
    public var rejectedExample: String? { rejections.example }

    private var lines = Lines()
    private var rejections = Rejections()
    /// What regions are called, by the second at which they were made.
    private var waypoints: [Int64: String] = [:]
    private var last: (time: Timestamp, place: GeoPosition)?
    private static let mostWaypoints = 1_024

    /// Makes a decoder.
    public init() {}

    /// Reads the next bytes.
    public func decode(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> [TrackSample] {
        var samples: [TrackSample] = []
        var lines = lines
        lines.add(bytes, isLast: isLast) { line in
            guard line.first != UInt8(ascii: "#"), let start = line.firstIndex(of: UInt8(ascii: "{")) else { return }
            do throws(JSONError) {
                let message = try JSON.parse(line[start...])
                // Messages that were quoted somewhere stand in `msg`.
                read(message["msg"] ?? message, &samples)
            } catch {
                rejections.add("\(error)")
            }
        }
        self.lines = lines
        return samples
    }

    private func read(_ message: JSON, _ samples: inout [TrackSample]) {
        if message["steps"] != nil, message["lat"] == nil { return }
        switch message["_type"]?.string {
        case "location": readLocation(message, &samples)
        case "transition": readTransition(message, &samples)
        case "waypoint":
            if let made = number(message["tst"]).flatMap({ Int64(exactly: $0.rounded()) }),
                let name = message["desc"]?.string, waypoints.count < OwnTracksDecoder.mostWaypoints
            {
                waypoints[made] = name
            }
        default: break
        }
    }

    private func readLocation(_ message: JSON, _ samples: inout [TrackSample]) {
        guard let time = time(message["tst"]) else { return rejections.add("a location without tst") }
        if let pressure = number(message["p"]), (30...120).contains(pressure) {
            samples.append(
                TrackSample(TrackStreams.pressure, self.time(message["created_at"]) ?? time, [Value(pressure * 10)])
            )
        }
        guard let latitude = number(message["lat"]), let longitude = number(message["lon"]),
            let place = GeoPosition(latitude: latitude, longitude: longitude)
        else { return rejections.add("a location without a place") }
        if let last, last.time == time, last.place == place { return }
        last = (time, place)
        var fix = PositionFix(time: time, place: place)
        // Below zero is unknown, except for a height; -1 with an unknown accuracy is no height.
        let isHigh = number(message["alt"]) != -1 || (number(message["vac"]) ?? -1) >= 0
        fix.altitude = isHigh ? number(message["alt"]) : nil
        fix.accuracy = number(message["acc"]).flatMap { $0 > 0 ? $0 : nil }
        fix.speed = number(message["vel"]).flatMap { $0 >= 0 ? $0 / 3.6 : nil }
        fix.course = number(message["cog"]).flatMap { (0...360).contains($0) ? $0 : nil }
        samples.append(TrackSample(fix))
    }

    private func readTransition(_ message: JSON, _ samples: inout [TrackSample]) {
        guard let time = time(message["tst"]), let event = message["event"]?.string,
            event == "enter" || event == "leave"
        else { return rejections.add("a transition without tst or event") }
        let made = number(message["wtst"]).flatMap { Int64(exactly: $0.rounded()) }
        guard let region = message["desc"]?.string ?? made.map({ waypoints[$0] ?? "waypoint \($0)" }) else {
            return rejections.add("a transition of an unknown region")
        }
        samples.append(TrackSample(TrackStreams.transitions, time, [.text(region), .text(event)]))
    }

    private func time(_ value: JSON?) -> Timestamp? {
        guard let seconds = number(value), (1...9e9).contains(seconds) else { return nil }
        return Timestamp(seconds: seconds)
    }

    private func number(_ value: JSON?) -> Double? {
        guard let number = value?.double ?? value?.string.flatMap(Double.init), number.isFinite else { return nil }
        return number
    }
}
