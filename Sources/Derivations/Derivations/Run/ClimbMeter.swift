/// Metres up and down from heights that are noisy.
///
/// Heights are smoothed over three fixes (as gpxpy does), and a turn counts once it is higher than the noise of a barometer:
/// the height has to come back by `turn` before what was reached is taken as a summit or a valley.
struct ClimbMeter: Sendable {
    /// Metres up so far.
    private(set) var up = 0.0
    /// Metres down so far.
    private(set) var down = 0.0
    private var recent: [Double] = []
    /// The last height that was counted.
    private var counted: Double?

    /// How much a height must differ from the last counted one, in metres.
    private static let turn = 1.0

    /// Takes the next height.
    mutating func add(_ height: Double) {
        recent.append(height)
        if recent.count == 1 {
            counted = height
        } else if recent.count == 3 {
            count(0.3 * recent[0] + 0.4 * recent[1] + 0.3 * recent[2])
            recent.removeFirst()
        }
    }

    /// Counts the height that waited for a next one; what follows does not belong to what came before.
    mutating func close() {
        if recent.count == 2 { count(recent[1]) }
        recent.removeAll()
        counted = nil
    }

    private mutating func count(_ height: Double) {
        guard let counted else {
            self.counted = height
            return
        }
        let change = height - counted
        guard change.magnitude >= ClimbMeter.turn else { return }
        if change > 0 { up += change } else { down -= change }
        self.counted = height
    }
}
