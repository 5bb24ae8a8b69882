public import Diagnostics
public import Samples

/// Regions and distances of beacons on `beacon`: the streams `beacons`, `beacon.region` and `beacon.nearest`.
///
/// Once a second each region says its proximity and the distance of its nearest beacon; -1 is unknown. Any sighting enters a
/// region; 30 s after the last one it is left. Without regions each beacon is a region of its own.
public struct BeaconsDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "beacons"
    /// What can be set: regions, the power at 1 m of beacons that do not say it, and which device.
    public static let keys = ["region", "power", "device"]

    /// The name of the kind.
    public var kind: String { BeaconsDerivation.kind }
    /// `beacon`.
    public let inputs: [Name]
    /// `beacons`, `beacon.region` and `beacon.nearest`.
    public let outputs: [Stream]

    private let regions: [BeaconRegion]
    private let usualPower: Double
    private var tracks: [BeaconKey: BeaconTrack] = [:]
    /// The regions that are entered, with the last sighting.
    private var entered: [String: Int64] = [:]
    private var clock = EventClock()
    private var nextLook: Int64?
    private var nearest: (key: BeaconKey, proximity: Proximity)?

    /// A region is left so long after the last sighting, in nanoseconds (about what phones do).
    private static let exit: Int64 = 30_000_000_000
    private static let second: Int64 = 1_000_000_000
    /// More beacons are not followed at a time.
    private static let most = 128

    /// Makes it; `region` is `NAME,UUID[,MAJOR[,MINOR[,POWER]]]`, any number of times.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        var regions: [BeaconRegion] = []
        for text in settings.texts("region") { regions.append(try BeaconRegion(text)) }
        self.regions = regions
        usualPower = try settings.number("power", in: BeaconRange.powers, usual: -59)
        inputs = [settings.name("beacon")]
        outputs = [settings.stream("beacons"), settings.stream("beacon.region"), settings.stream("beacon.nearest")]
    }

    /// Takes sightings.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        guard batch.stream.name == inputs[0] else { return }
        func place(_ name: String) -> Int? { batch.stream.fields.firstIndex { $0.name.text == name } }
        guard let uuid = place("uuid"), let rssi = place("rssi") else { return }
        let (major, minor, power) = (place("major"), place("minor"), place("power"))
        for row in 0..<batch.count {
            let time = batch.times[row].nanoseconds
            switch clock.take(time, arrival: batch.arrival) {
            // Two beacons may be seen in the same instant.
            case .late where clock.newest != time: continue
            case .setBack: restart()
            case .late, .next: break
            }
            pass(time, into: &output)
            guard case .text(let text) = batch.value(row: row, field: uuid), text.utf8.count <= 64 else { continue }
            func whole(_ field: Int?) -> Int64? {
                field.flatMap { batch.value(row: row, field: $0).number }.flatMap { Int64(exactly: $0) }
            }
            let key = BeaconKey(uuid: text, major: whole(major), minor: whole(minor))
            let said = power.map { batch.value(row: row, field: $0) } ?? .missing
            sight(key, rssi: batch.value(row: row, field: rssi).number, said: said, time, into: &output)
        }
    }

    private mutating func sight(
        _ key: BeaconKey,
        rssi: Double?,
        said: Value,
        _ time: Int64,
        into output: inout DerivedSamples
    ) {
        let held = regions.filter { $0.key.holds(key) }
        guard regions.isEmpty || !held.isEmpty else { return }
        if tracks[key] == nil {
            guard tracks.count < BeaconsDerivation.most else { return }
            tracks[key] = BeaconTrack(key, at: time)
        }
        // A power that cannot be one is not replaced by a usual one: the distance is unknown.
        let usual = held.first?.power ?? usualPower
        let power = said == .missing ? usual : said.number.flatMap { BeaconRange.powers.contains($0) ? $0 : nil }
        // 0 and 127 mean that there is none.
        let strength = rssi.flatMap { (-127.0..<0).contains($0) ? $0 : nil }
        tracks[key]?.sight(rssi: strength, power: power, at: time)
        for name in regions.isEmpty ? [key.text] : held.map(\.name) {
            if entered[name] == nil { write(name, "enter", time, into: &output) }
            entered[name] = time
        }
        if nextLook == nil { nextLook = time &+ BeaconsDerivation.second }
    }

    /// Looks at every beacon for each second that has passed.
    private mutating func pass(_ time: Int64, into output: inout DerivedSamples) {
        guard var next = nextLook else { return }
        while next <= time {
            // After a long silence there is nothing new to be said.
            if tracks.isEmpty, entered.isEmpty { break }
            look(next, into: &output)
            next &+= BeaconsDerivation.second
        }
        nextLook = tracks.isEmpty && entered.isEmpty ? nil : next
    }

    private mutating func look(_ time: Int64, into output: inout DerivedSamples) {
        for key in Array(tracks.keys) { tracks[key]?.look(at: time) }
        for name in entered.keys.sorted() {
            guard let seen = entered[name] else { continue }
            if time &- seen >= BeaconsDerivation.exit {
                entered[name] = nil
                write(name, "leave", seen &+ BeaconsDerivation.exit, into: &output)
                continue
            }
            let region = regions.first { $0.name == name }
            let best = tracks.values.filter { region?.key.holds($0.key) ?? ($0.key.text == name) }.min(by: isNearer)
            output.append(
                0,
                time: Timestamp(nanoseconds: time),
                [
                    .text(name), .text((best?.proximity ?? .unknown).rawValue),
                    .real(best?.metres ?? -1),
                ]
            )
        }
        tell(nearestAt: time, into: &output)
        tracks = tracks.filter { time &- $0.value.seen < BeaconsDerivation.exit }
    }

    /// What is known is nearer than what is not; of two the names decide, so that it is always the same.
    private func isNearer(_ one: BeaconTrack, _ other: BeaconTrack) -> Bool {
        switch (one.metres, other.metres) {
        case (let first?, let second?) where first != second: first < second
        case (_?, nil): true
        case (nil, _?): false
        default: one.key.text < other.key.text
        }
    }

    private mutating func tell(nearestAt time: Int64, into output: inout DerivedSamples) {
        var best = tracks.values.filter { $0.metres != nil }.min(by: isNearer)
        // Another one has to be nearer by a fifth.
        if let old = nearest.flatMap({ tracks[$0.key] }), let metres = old.metres, let found = best?.metres,
            found > metres / 1.2
        {
            best = old
        }
        guard best?.key != nearest?.key || best?.proximity != nearest?.proximity else { return }
        nearest = best.map { ($0.key, $0.proximity) }
        let region = best.map { best in regions.first { $0.key.holds(best.key) }?.name ?? best.key.text }
        output.append(
            2,
            time: Timestamp(nanoseconds: time),
            [
                region.map { .text($0) } ?? .missing, best.map { .text($0.key.uuid) } ?? .missing,
                best?.key.major.map { .integer($0) } ?? .missing, best?.key.minor.map { .integer($0) } ?? .missing,
                .text((best?.proximity ?? .unknown).rawValue), .real(best?.metres ?? -1),
            ]
        )
    }

    private mutating func restart() {
        tracks.removeAll()
        nextLook = nil
        // Who was entered stays so: the sighting at hand begins the 30 s again.
        if let newest = clock.newest { entered = entered.mapValues { _ in newest } }
    }

    private func write(_ name: String, _ event: String, _ time: Int64, into output: inout DerivedSamples) {
        output.append(1, time: Timestamp(nanoseconds: time), [.text(name), .text(event)])
    }

    /// Time has come so far although nothing was seen.
    public mutating func advance(to time: Timestamp, into output: inout DerivedSamples) {
        if let newest = clock.newest, time.nanoseconds > newest { pass(time.nanoseconds, into: &output) }
    }

    /// The regions that are entered.
    public var state: [UInt8]? {
        Array(entered.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: "\n").utf8)
    }

    /// Goes on with the regions that were entered; 30 s of the new time without a sighting leave them.
    public mutating func restore(_ state: [UInt8]) {
        for line in String(decoding: state, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let time = Int64(parts[0]), entered.count < BeaconsDerivation.most else { continue }
            entered[String(parts[1])] = time
            nextLook = max(nextLook ?? time, time &+ BeaconsDerivation.second)
        }
    }
}
