internal import Diagnostics
internal import Samples
internal import XML

/// Follows the elements of a GPX document.
final class GPXReading: XMLHandler {
    var rejections = Rejections()
    private(set) var untimed = 0

    private var samples: [TrackSample] = []
    private var point: Point?
    private var isSegmentNew = true
    private var last: PositionFix?
    /// When the document was made: where untimed points begin.
    private var start: Timestamp?
    /// The text of the element that is open, when it is one of those that count.
    private var text: [UInt8] = []
    private var isCollecting = false

    private struct Point {
        var place: GeoPosition?
        var time: Timestamp?
        var altitude: Double?
        var speed: Double?
        var course: Double?
        var heartRate: Double?
    }

    func take() -> [TrackSample] {
        defer { samples.removeAll(keepingCapacity: true) }
        return samples
    }

    func begin(_ element: XMLElement) {
        isCollecting = false
        switch element.name.local {
        case "trkseg", "trk": isSegmentNew = true
        case "trkpt":
            var new = Point()
            if let latitude = element["lat"].flatMap({ Double($0.string) }),
                let longitude = element["lon"].flatMap({ Double($0.string) })
            {
                new.place = GeoPosition(latitude: latitude, longitude: longitude)
            }
            point = new
        case "time", "ele", "speed", "course", "hr":
            isCollecting = true
            text.removeAll(keepingCapacity: true)
        default: break
        }
    }

    func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard isCollecting, text.count + bytes.count <= 64 else { return }
        text.append(contentsOf: bytes)
    }

    func end(_ name: XMLText) {
        defer { isCollecting = false }
        switch name.local {
        case "trkpt": closePoint()
        case "time" where isCollecting:
            let time = GPXReading.time(trimmedText)
            if point != nil { point?.time = time } else if start == nil { start = time }
        case "ele" where isCollecting: point?.altitude = number(in: -1_000...100_000)
        case "speed" where isCollecting: point?.speed = number(in: 0...600)
        case "course" where isCollecting: point?.course = number(in: 0...360)
        case "hr" where isCollecting: point?.heartRate = number(in: 1...400)
        default: break
        }
    }

    private var trimmedText: String {
        var slice = text[...]
        while let first = slice.first, first <= 0x20 { slice.removeFirst() }
        while let last = slice.last, last <= 0x20 { slice.removeLast() }
        return String(decoding: slice, as: UTF8.self)
    }

    private func number(in range: ClosedRange<Double>) -> Double? {
        guard let number = Double(trimmedText), range.contains(number) else { return nil }
        return number
    }

    /// Times without a zone are taken as UTC, as GPX says that all are.
    private static func time(_ text: String) -> Timestamp? {
        Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "Z")
    }

    private func closePoint() {
        guard let point else { return }
        self.point = nil
        guard let place = point.place else { return rejections.add("a track point without a place on earth") }
        if point.time == nil { untimed += 1 }
        let time = point.time ?? guessedTime(at: place)
        if isSegmentNew { samples.append(.pause(at: time)) }
        isSegmentNew = false
        var fix = PositionFix(time: time, place: place)
        fix.altitude = point.altitude
        fix.speed = point.speed
        fix.course = point.course
        last = fix
        samples.append(TrackSample(fix))
        if let heartRate = point.heartRate {
            samples.append(TrackSample(TrackStreams.heartRate, time, [.real(heartRate), .missing]))
        }
    }

    private func guessedTime(at place: GeoPosition) -> Timestamp {
        guard let last else { return start ?? Timestamp(nanoseconds: 0) }
        let leg = last.place.distance(to: place)
        return last.time + .seconds(max(1, min(leg / 2.5, 15), leg / 10))
    }
}
