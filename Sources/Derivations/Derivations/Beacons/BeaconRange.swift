internal import Glibc

/// How near a beacon is.
enum Proximity: String, Sendable {
    case immediate
    case near
    case far
    case unknown
}

/// Distances from signal strengths.
enum BeaconRange {
    /// A power at 1 m that can be one, in dBm. Beacons say 0, 26 or 100 and mean something else by it.
    static let powers = -100.0 ... -20.0
    /// The loss that most rooms have lies between 2 (free space) and 4; with 2 the three classes come out right for all of
    /// them, since a wall makes what is far farther.
    static let exponent = 2.0
    /// Nearer than this is immediate, in metres (bleacon; the phone's own numbers are not known).
    static let immediate = 0.5
    /// Nearer than this is near, in metres.
    static let near = 4.0

    /// The distance in metres at which `power` at 1 m becomes `rssi`; both in dBm.
    static func metres(power: Double, rssi: Double) -> Double {
        pow(10, (power - rssi) / (10 * exponent))
    }

    /// The class of a distance.
    static func proximity(_ metres: Double) -> Proximity {
        if metres < immediate { return .immediate }
        return metres < near ? .near : .far
    }

    /// How many dB lie between a distance and the nearest border of its class.
    static func margin(_ metres: Double) -> Double {
        let borders = [immediate, near].map { abs(10 * exponent * log10(metres / $0)) }
        return borders.min() ?? 0
    }
}
