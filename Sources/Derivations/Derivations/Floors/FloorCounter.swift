/// Counts floors in heights of one a second and the steps made in each.
///
/// Only what is climbed on foot counts: the height moves on while steps are made and at a stair's pace; lifts, doors and
/// weather move the base instead. One floor is 3 m, and a flight counts when it is nearly done, since floors and sensors
/// are not exact (thresholds: the facts' figures; `almost` is a quarter of a floor, four times the noise of the mean).
struct FloorCounter: Sendable {
    private static let floor = 3.0
    private static let almost = 0.75
    /// So far back means that the direction has turned, in metres.
    private static let turn = 1.0
    /// Faster than this, in m/s, is a door or a lift.
    private static let fastest = 0.9
    /// Slower than this is weather or flat ground; so much of it a second moves the base (weather: 8 m an hour).
    private static let flat = 0.04
    private static let creep = 0.008
    /// So many seconds of flat ground end a climb.
    private static let landing = 45

    private(set) var up: Int64 = 0
    private(set) var down: Int64 = 0

    /// The height climbed on foot.
    private var height = 0.0
    private var previous: Double?
    private var low = 0.0
    private var high = 0.0
    private var start = 0.0
    private var direction = 0.0
    private var counted: Int64 = 0
    private var flatSeconds = 0
    private var recent = [Double](repeating: 0, count: 10)
    private var seconds = 0

    init(up: Int64 = 0, down: Int64 = 0) {
        self.up = up
        self.down = down
    }

    /// Forgets the height, after a gap.
    mutating func restart() {
        previous = nil
        endClimb()
    }

    private mutating func endClimb() {
        low = height
        high = height
        start = height
        direction = 0
        counted = 0
    }

    /// Takes the smoothed height of the next second, and whether steps are made around it; true when a floor counted.
    mutating func add(_ metres: Double, isWalking: Bool) -> Bool {
        defer { previous = metres }
        guard let previous else { return false }
        let change = metres - previous
        if isWalking, abs(change) <= FloorCounter.fastest { height += change }
        settle()
        return follow()
    }

    /// Lets the base follow what is too slow for stairs.
    private mutating func settle() {
        let rate = (height - recent[seconds % recent.count]) / Double(recent.count)
        recent[seconds % recent.count] = height
        seconds += 1
        guard abs(rate) < FloorCounter.flat else {
            flatSeconds = 0
            return
        }
        flatSeconds += 1
        if flatSeconds >= FloorCounter.landing { return endClimb() }
        start += max(-FloorCounter.creep, min(FloorCounter.creep, height - start))
        low += max(-FloorCounter.creep, min(FloorCounter.creep, height - low))
        high += max(-FloorCounter.creep, min(FloorCounter.creep, height - high))
    }

    private mutating func follow() -> Bool {
        low = min(low, height)
        high = max(high, height)
        if direction <= 0, height - low >= FloorCounter.turn {
            direction = 1
            start = low
            high = height
            counted = 0
        } else if direction >= 0, high - height >= FloorCounter.turn {
            direction = -1
            start = high
            low = height
            counted = 0
        }
        let climbed = direction > 0 ? high - start : direction < 0 ? start - low : 0
        let floors = Int64(max(0, (climbed + FloorCounter.almost) / FloorCounter.floor))
        guard floors > counted else { return false }
        if direction > 0 { up += floors - counted } else { down += floors - counted }
        counted = floors
        return true
    }
}
