/// Brings a series with any rate and jitter to an even grid, by the mean of its straight lines over each cell.
///
/// The mean over a cell is also the filter against aliasing, so that a series of 200 Hz and one of 25 Hz give the same.
/// Gaps, steps back and doubled times are said and never bridged.
struct EvenSeries: Sendable {
    /// What a point did.
    enum Event {
        /// It went into the running cell, or was dropped as late.
        case nothing
        /// It ended this many cells, whose values `cell(_:)` gives.
        case cells(Int)
        /// There was a gap or a jump: what came before does not belong to what comes now.
        case restart
    }

    /// The length of a cell in nanoseconds.
    let step: Int64
    /// The longest time between two points that is bridged by a straight line, in nanoseconds.
    let longestGap: Int64
    private let perNanosecond: Double

    /// The end of the last whole cell.
    private(set) var end: Int64 = 0
    private var lastTime: Int64 = 0
    private var lastValue = 0.0
    /// Area of the running cell so far.
    private var area = 0.0
    private var hasPoint = false
    private var late = 0
    private var finished: [Double]

    init(step: Int64, longestGap: Int64) {
        self.step = step
        self.longestGap = longestGap
        perNanosecond = 1 / Double(step)
        finished = []
        finished.reserveCapacity(Int(longestGap / step) + 2)
    }

    /// The value of a cell that the last point ended.
    func cell(_ place: Int) -> Double { finished[place] }

    /// When that cell ended.
    func cellEnd(_ place: Int) -> Int64 { end - Int64(finished.count - 1 - place) * step }

    /// Takes the next point.
    @inline(__always)
    mutating func add(_ time: Int64, _ value: Double) -> Event {
        // Centuries away the sums below would not fit.
        guard time.magnitude < 8_000_000_000_000_000_000 else { return .nothing }
        guard hasPoint else {
            begin(time, value)
            return .restart
        }
        let (distance, overflow) = time.subtractingReportingOverflow(lastTime)
        if overflow || distance <= 0 || distance > longestGap { return odd(time, value, distance, overflow) }
        late = 0
        let cellEnd = end &+ step
        if time < cellEnd {
            area += 0.5 * (lastValue + value) * Double(distance)
            lastTime = time
            lastValue = value
            return .nothing
        }
        close(time, value, distance)
        return .cells(finished.count)
    }

    private mutating func close(_ time: Int64, _ value: Double, _ distance: Int64) {
        finished.removeAll(keepingCapacity: true)
        let slope = (value - lastValue) / Double(distance)
        let start = lastTime
        let startValue = lastValue
        while time >= end &+ step {
            let edge = end &+ step
            let edgeValue = startValue + slope * Double(edge &- start)
            area += 0.5 * (lastValue + edgeValue) * Double(edge &- lastTime)
            finished.append(area * perNanosecond)
            area = 0
            end = edge
            lastTime = edge
            lastValue = edgeValue
        }
        area = 0.5 * (lastValue + value) * Double(time &- lastTime)
        lastTime = time
        lastValue = value
    }

    /// A late or doubled point is dropped, until as many came as belong to a clock that was set back.
    private mutating func odd(_ time: Int64, _ value: Double, _ distance: Int64, _ overflow: Bool) -> Event {
        if !overflow, distance <= 0 {
            late += 1
            if late < EvenSeries.lateUntilBelieved { return .nothing }
        }
        begin(time, value)
        return .restart
    }

    private mutating func begin(_ time: Int64, _ value: Double) {
        hasPoint = true
        late = 0
        lastTime = time
        lastValue = value
        end = time
        area = 0
        finished.removeAll(keepingCapacity: true)
    }

    /// So many points in a row that are not later than the newest one mean that the clock was set back.
    private static let lateUntilBelieved = 50
}
