/// Which beacon.
struct BeaconKey: Sendable, Hashable {
    var uuid: String
    var major: Int64?
    var minor: Int64?

    /// UUIDs are compared without regard to case.
    init(uuid: String, major: Int64?, minor: Int64?) {
        self.uuid = uuid.lowercased()
        self.major = major
        self.minor = minor
    }

    /// Whether a beacon belongs to this, where what is not said fits all.
    func holds(_ other: BeaconKey) -> Bool {
        uuid == other.uuid && (major == nil || major == other.major) && (minor == nil || minor == other.minor)
    }

    /// `UUID/MAJOR/MINOR`.
    var text: String { "\(uuid)/\(major.map(String.init) ?? "-")/\(minor.map(String.init) ?? "-")" }
}

/// A set of beacons that is watched as one.
struct BeaconRegion: Sendable {
    var name: String
    var key: BeaconKey
    /// Power at 1 m in dBm for beacons that do not say it.
    var power: Double?

    init(name: String, key: BeaconKey, power: Double? = nil) {
        self.name = name
        self.key = key
        self.power = power
    }

    /// Reads `NAME,UUID`, `NAME,UUID,MAJOR`, `NAME,UUID,MAJOR,MINOR` or `NAME,UUID,MAJOR,MINOR,POWER`; `-` fits all.
    init(_ text: String) throws(DerivationError) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        func number(_ place: Int) -> Int64?? {
            guard parts.indices.contains(place), parts[place] != "-" else { return .some(nil) }
            guard let number = Int64(parts[place]), (0...65_535).contains(number) else { return nil }
            return .some(number)
        }
        guard (2...5).contains(parts.count), !parts[0].isEmpty, parts[1].utf8.count == 36, let major = number(2),
            let minor = number(3)
        else { throw BeaconRegion.refusal(text) }
        name = parts[0]
        key = BeaconKey(uuid: parts[1], major: major, minor: minor)
        guard parts.count == 5 else { return }
        guard let power = Double(parts[4]), BeaconRange.powers.contains(power) else { throw BeaconRegion.refusal(text) }
        self.power = power
    }

    private static func refusal(_ text: String) -> DerivationError {
        DerivationError(
            "region is \"\(text)\", but must be NAME,UUID[,MAJOR[,MINOR[,POWER]]]: numbers to 65535 or -, and dBm."
        )
    }
}
