/// One beacon: its signal, and the class that is believed.
struct BeaconTrack: Sendable {
    let key: BeaconKey
    private var window = SignalWindow()
    private var power: Double?
    private var candidate: (proximity: Proximity, count: Int)?
    private(set) var proximity = Proximity.unknown
    /// Metres, or nil when they are not known.
    private(set) var metres: Double?
    /// The last sighting.
    private(set) var seen: Int64

    /// Without a sighting for so long nothing is known about the distance, in nanoseconds.
    static let patience: Int64 = 5_000_000_000
    /// So long after a move the class follows without a margin, in nanoseconds.
    private static let settling: Int64 = 8_000_000_000
    /// A class changes when so many looks in a row agree.
    private static let looks = 2
    /// The estimate must lie so far beyond the border, in standard errors, and at least 20 % of the distance in dB.
    private static let errors = 2.0
    private static let leastMargin = 1.6

    init(_ key: BeaconKey, at time: Int64) {
        self.key = key
        seen = time
    }

    /// A sighting; `rssi` and `power` in dBm, nil when they are none.
    mutating func sight(rssi: Double?, power: Double?, at time: Int64) {
        if time &- seen > BeaconTrack.patience { window = SignalWindow() }
        seen = max(seen, time)
        self.power = power
        if let rssi { window.add(rssi, at: time) }
    }

    /// Judges the distance, once a second.
    mutating func look(at time: Int64) {
        guard let power, let newest = window.newest, time &- newest <= BeaconTrack.patience, window.count > 0 else {
            proximity = .unknown
            metres = nil
            candidate = nil
            return
        }
        let middle = window.middle
        let distance = BeaconRange.metres(power: power, rssi: middle.value)
        metres = distance
        let found = BeaconRange.proximity(distance)
        guard proximity != .unknown else {
            proximity = found
            return
        }
        // Having moved is reason enough for another class.
        let hasMoved = window.moved.map { time &- $0 < BeaconTrack.settling } ?? false
        let margin = hasMoved ? 0 : max(BeaconTrack.leastMargin, BeaconTrack.errors * middle.error)
        guard found != proximity, BeaconRange.margin(distance) >= margin else {
            candidate = nil
            return
        }
        let count = candidate?.proximity == found ? (candidate?.count ?? 0) + 1 : 1
        candidate = (found, count)
        guard count >= BeaconTrack.looks else { return }
        proximity = found
        candidate = nil
    }
}
