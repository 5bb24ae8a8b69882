import Testing

@testable import Feeds

@Suite("Median") struct MedianSketchTests {
    @Test("is exact up to its stated number", arguments: [1, 2, 3, 10, 1023, 1024])
    func exactWhenSmall(_ count: Int) {
        var dice = Dice(seed: UInt64(count))
        var sketch = MedianSketch()
        let numbers = (0..<count).map { _ in Double.random(in: -1...1, using: &dice) }

        for number in numbers { sketch.add(number) }

        let sorted = numbers.sorted()
        #expect(sketch.median == sorted[(count - 1) / 2] / 2 + sorted[count / 2] / 2)
    }

    enum Shape: CaseIterable {
        case rising
        case falling
        case random
        case sawtooth
        case twoHeaps
    }

    @Test("stays within its stated error in bounded memory", arguments: Shape.allCases)
    func closeWhenLarge(_ shape: Shape) throws {
        let count = 300_000
        var dice = Dice(seed: 1)
        var sketch = MedianSketch()
        let numbers = (0..<count).map { index -> Double in
            switch shape {
            case .rising: Double(index)
            case .falling: -Double(index)
            case .random: Double.random(in: 0...1, using: &dice)
            case .sawtooth: Double(index % 1_000)
            case .twoHeaps: Double.random(in: 0...1, using: &dice) + (index % 2 == 0 ? 0 : 100)
            }
        }

        for number in numbers { sketch.add(number) }

        let median = try #require(sketch.median)
        let below = numbers.count { $0 < median }
        let notAbove = numbers.count { $0 <= median }
        let error = max(0, below - count / 2, count / 2 - notAbove)
        #expect(Double(error) / Double(count) < 0.004)
        #expect(sketch.kept <= 10 * MedianSketch.exact)
    }

    @Test("nothing has no median")
    func empty() {
        #expect(MedianSketch().median == nil)
    }
}
