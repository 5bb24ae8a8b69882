// NMEA 0183: sentences of satellite receivers and of ships.
//
// Units: ddmm.mmmm, knots, metres above mean sea level, UTC. Rate: one epoch of several sentences a second, up to 10.
// What goes wrong: empty fields are unknown and not zero; a cut sentence can have a right checksum; a receiver without a
// fix says 0, 0; GGA has no date; old receivers are 1024 weeks behind.
public import Diagnostics
public import Samples

/// Reads NMEA 0183 sentences: RMC and GGA of one epoch make one fix.
public final class NMEADecoder: TrackDecoder {
    /// Only `location`.
    public let streams = [TrackStreams.location]
    /// Sentences that were broken, and lines that were none.
    public var rejected: Int { rejections.count + lines.tooLong }
    /// What was wrong with the first of them.
    public var rejectedExample: String? { rejections.example }

    private var lines = Lines()
    private var rejections = Rejections()
    private let usualDay: Int64?
    private let notBefore: Timestamp?
    /// Days since 1970.
    private var day: Int64?
    private var lastTime: Int64?
    private var epoch: Epoch?
    /// Standard error in metres of the running epoch, from GST.
    private var deviation: (time: Int64, metres: Double)?

    private struct Epoch {
        var time: Int64
        var fix: PositionFix
        var hasRMC = false
        var hasGGA = false
    }

    /// Metres a second a knot.
    private static let knot = 1_852.0 / 3_600
    /// A receiver's error is about this many metres times HDOP: the range error of consumer receivers.
    private static let rangeError = 5.0
    private static let dayLength: Int64 = 86_400_000_000_000

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - dayWhenUnknown: the day on which a log begins that has no date; nil: such sentences are rejected.
    ///   - notBefore: dates before this are of a receiver whose 1024 weeks have passed: they are moved on.
    public init(dayWhenUnknown: Timestamp? = Timestamp(nanoseconds: 0), notBefore: Timestamp? = nil) {
        usualDay = dayWhenUnknown.map { $0.nanoseconds / NMEADecoder.dayLength }
        self.notBefore = notBefore
    }

    /// Reads the next bytes.
    public func decode(_ bytes: UnsafeRawBufferPointer, isLast: Bool) -> [TrackSample] {
        var samples: [TrackSample] = []
        var lines = lines
        lines.add(bytes, isLast: isLast) { line in
            // Comments, and what a gpsd mixes in.
            guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "{") else { return }
            guard let sentence = NMEASentence(line) else {
                rejections.add("no sentence with a right checksum: \(String(decoding: line.prefix(90), as: UTF8.self))")
                return
            }
            if !read(sentence, &samples) {
                rejections.add("a broken \(sentence.kind): \(sentence.fields.joined(separator: ","))")
            }
        }
        self.lines = lines
        if isLast { close(&samples) }
        return samples
    }

    /// False when the sentence is broken.
    private func read(_ sentence: NMEASentence, _ samples: inout [TrackSample]) -> Bool {
        switch sentence.kind {
        case "RMC": readRMC(sentence, &samples)
        case "GGA": readGGA(sentence, &samples)
        case "ZDA": readZDA(sentence)
        case "GST": readGST(sentence)
        default: true
        }
    }

    private func readRMC(_ sentence: NMEASentence, _ samples: inout [TrackSample]) -> Bool {
        guard sentence.fields.count >= 9, let status = sentence.text(1), status == "A" || status == "V" else {
            return false
        }
        guard status == "A" else {
            // The clock may be right without a fix.
            if let day = sentence.day(8), sentence.timeOfDay(0) != nil { set(day) }
            return true
        }
        // No satellite receiver of these works faster than 1,000 knots.
        guard let time = sentence.timeOfDay(0), let day = sentence.day(8), let place = sentence.position(2),
            !place.isNull, sentence.isUnknown(6, or: 0...1_000), sentence.isUnknown(7, or: 0...360)
        else { return false }
        set(day)
        update(time, place, &samples) { epoch in
            epoch.hasRMC = true
            epoch.fix.speed = sentence.number(6).map { $0 * NMEADecoder.knot }
            epoch.fix.course = sentence.number(7)
        }
        return true
    }

    private func readGGA(_ sentence: NMEASentence, _ samples: inout [TrackSample]) -> Bool {
        // 0 is no fix, 8 a simulator; 6 is dead reckoning.
        guard sentence.fields.count >= 14, let quality = sentence.number(5), (0...9).contains(quality) else {
            return false
        }
        guard quality != 0, quality != 8 else { return true }
        guard let time = sentence.timeOfDay(0), let place = sentence.position(1), !place.isNull,
            sentence.isUnknown(7, or: 0...100), sentence.isUnknown(8, or: -1_000...100_000),
            sentence.text(9) == nil || sentence.text(9) == "M"
        else { return false }
        if day == nil { day = usualDay }
        guard let known = day else { return false }
        // Past midnight, and no date has told so yet.
        if let lastTime, lastTime - time > NMEADecoder.dayLength / 2 { day = known + 1 }
        update(time, place, &samples) { epoch in
            epoch.hasGGA = true
            epoch.fix.altitude = sentence.number(8)
            // 50 and 99.99 mean that there is none.
            if let hdop = sentence.number(7), hdop > 0, hdop < 50 { epoch.fix.accuracy = hdop * NMEADecoder.rangeError }
        }
        return true
    }

    private func readZDA(_ sentence: NMEASentence) -> Bool {
        guard sentence.fields.count >= 4 else { return false }
        guard let day = sentence.number(1), let month = sentence.number(2), let year = sentence.number(3) else {
            return true
        }
        guard (1...31).contains(day), (1...12).contains(month), (1980...2200).contains(year),
            let found = NMEASentence.day(year: Int(year), month: Int(month), day: Int(day))
        else { return false }
        if sentence.timeOfDay(0) != nil { set(found) }
        return true
    }

    private func readGST(_ sentence: NMEASentence) -> Bool {
        guard sentence.fields.count >= 8 else { return false }
        guard let time = sentence.timeOfDay(0), let north = sentence.number(5), let east = sentence.number(6) else {
            return true
        }
        guard (0...10_000).contains(north), (0...10_000).contains(east) else { return false }
        let metres = (north * north + east * east).squareRoot()
        deviation = (time, metres)
        if epoch?.time == time { epoch?.fix.accuracy = metres }
        return true
    }

    private func set(_ found: Int64) {
        day = found
        guard let notBefore else { return }
        // A receiver counts weeks in ten bits.
        while let day, day < notBefore.nanoseconds / NMEADecoder.dayLength { self.day = day + 7 * 1_024 }
    }

    private func update(
        _ time: Int64,
        _ place: GeoPosition,
        _ samples: inout [TrackSample],
        _ change: (inout Epoch) -> Void
    ) {
        if epoch?.time != time { close(&samples) }
        let stamp = Timestamp(nanoseconds: (day ?? 0) * NMEADecoder.dayLength + time)
        var next = epoch ?? Epoch(time: time, fix: PositionFix(time: stamp, place: place))
        next.fix.time = stamp
        change(&next)
        if let deviation, deviation.time == time { next.fix.accuracy = deviation.metres }
        epoch = next
        lastTime = time
    }

    private func close(_ samples: inout [TrackSample]) {
        if let epoch { samples.append(TrackSample(epoch.fix)) }
        epoch = nil
    }
}
