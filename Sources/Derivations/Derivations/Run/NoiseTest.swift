internal import Samples

/// Whether the way through fixes is longer than the way that was gone, because the fixes jump about.
///
/// Noise shows in second differences: at an even pace they would be zero. The way grows by a twentieth when the noise is a
/// fifth of a leg; then the median of the second differences is about 0.6 legs. A sharp turn moves the median little.
enum NoiseTest {
    static let share = 0.6

    static func isNoisy(_ fixes: ArraySlice<LocationFix>) -> Bool {
        guard fixes.count >= 8, let first = fixes.first, let last = fixes.last else { return false }
        let mean = last.seconds(since: first) / Double(fixes.count - 1)
        guard mean <= 3 else { return false }
        var way = 0.0
        var bends: [Double] = []
        var before: (east: Double, north: Double, seconds: Double)?
        for (one, other) in zip(fixes, fixes.dropFirst()) {
            let offset = one.place.offset(to: other.place)
            let step = (offset.east, offset.north, other.seconds(since: one))
            way += (step.0 * step.0 + step.1 * step.1).squareRoot()
            if let before, abs(step.2 - before.seconds) < 0.5 * mean {
                let (east, north) = (step.0 - before.east, step.1 - before.north)
                bends.append((east * east + north * north).squareRoot())
            }
            before = step
        }
        guard bends.count >= 5 else { return false }
        bends.sort()
        return bends[bends.count / 2] > share * way / Double(fixes.count - 1)
    }
}
