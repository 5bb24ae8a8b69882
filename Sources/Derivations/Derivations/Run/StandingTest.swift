internal import Samples

/// Whether someone stands, from the fixes of the last seconds.
struct StandingTest {
    /// The middle of the fixes.
    let middle: GeoPosition
    /// Whether all lie around one place, and the straight line through them has no speed.
    let isStanding: Bool

    /// Judges fixes in their order; nil when there are too few, or over too short a time.
    init?(_ fixes: ArraySlice<LocationFix>, atLeast fewest: Int, spread: Double) {
        guard let first = fixes.first, let last = fixes.last, fixes.count >= fewest,
            last.seconds(since: first) >= RunTuning.window
        else { return nil }
        let count = Double(fixes.count)
        var sums = (t: 0.0, east: 0.0, north: 0.0)
        let points = fixes.map { fix in
            let offset = first.place.offset(to: fix.place)
            let point = (t: fix.seconds(since: first), east: offset.east, north: offset.north)
            sums.t += point.t
            sums.east += point.east
            sums.north += point.north
            return point
        }
        let mean = (t: sums.t / count, east: sums.east / count, north: sums.north / count)
        var scatter = 0.0
        var along = (east: 0.0, north: 0.0)
        var farthest = 0.0
        for point in points {
            let t = point.t - mean.t
            let east = point.east - mean.east
            let north = point.north - mean.north
            scatter += t * t
            along.east += t * east
            along.north += t * north
            farthest = max(farthest, east * east + north * north)
        }
        middle = first.place.moved(east: mean.east, north: mean.north) ?? first.place
        guard scatter > 0 else {
            isStanding = false
            return
        }
        let speed = (along.east * along.east + along.north * along.north).squareRoot() / scatter
        isStanding = farthest.squareRoot() <= spread && speed < RunTuning.standing
    }
}
