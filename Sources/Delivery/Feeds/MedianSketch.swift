/// The median of a stream of numbers in bounded memory.
///
/// Exact up to `exact` numbers. Beyond that each full level is sorted and every second number of it goes up a level with
/// twice the weight, the odd and the even ones in turn (the compactor of Munro-Paterson and KLL, without its coins). One
/// compaction moves any rank by at most half of the level's weight, in alternating directions: with n numbers the rank of
/// the answer is off by at most n * log2(n / exact) / (2 * exact), which is 0.7 % for a day at 100 Hz. Memory: `exact` numbers a level, one level for each doubling.
struct MedianSketch: Sendable {
    /// Up to this many numbers the median is exact.
    static let exact = 1024

    private var levels: [[Double]] = [[]]
    private var takesOdd: [Bool] = [false]

    /// Adds a number that is not NaN.
    mutating func add(_ number: Double) {
        if levels[0].isEmpty { levels[0].reserveCapacity(16) }
        if levels[0].count == MedianSketch.exact { compact(0) }
        levels[0].append(number)
    }

    /// The middle number, or the mean of the two middle ones; nil when there is none.
    var median: Double? {
        if levels.count == 1 {
            let sorted = levels[0].sorted()
            guard let last = sorted.last else { return nil }
            let middle = sorted.count / 2
            guard sorted.count.isMultiple(of: 2) else { return sorted[middle] }
            return middle == 0 ? last : sorted[middle - 1] / 2 + sorted[middle] / 2
        }
        var weighted: [(number: Double, weight: Int)] = []
        for (level, numbers) in levels.enumerated() {
            for number in numbers { weighted.append((number, 1 << level)) }
        }
        weighted.sort { $0.number < $1.number }
        let total = weighted.reduce(0) { $0 + $1.weight }
        var below = 0
        for (number, weight) in weighted {
            below += weight
            if below * 2 >= total { return number }
        }
        return weighted.last?.number
    }

    /// How many numbers are kept.
    var kept: Int { levels.reduce(0) { $0 + $1.count } }

    private mutating func compact(_ level: Int) {
        if level + 1 == levels.count {
            levels.append([])
            takesOdd.append(false)
        }
        if levels[level + 1].count + MedianSketch.exact / 2 > MedianSketch.exact { compact(level + 1) }
        levels[level].sort()
        var place = takesOdd[level] ? 1 : 0
        takesOdd[level].toggle()
        while place < levels[level].count {
            levels[level + 1].append(levels[level][place])
            place += 2
        }
        levels[level].removeAll(keepingCapacity: true)
    }
}
