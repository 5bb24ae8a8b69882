import Diagnostics
import Publisher
import Testing

@Suite("Rolling budget")
struct RollingBudgetTests {
    @Test("no window of 60 s ever holds more than the limit")
    func neverMore() {
        var generator = SystemRandomNumberGenerator()
        var budget = RollingBudget(limit: 30)
        var now = BootInstant(nanoseconds: 0)
        var taken: [BootInstant] = []
        for _ in 0..<20_000 {
            now = now.advanced(by: .milliseconds(Int.random(in: 0..<900, using: &generator)))
            if budget.take(at: now) { taken.append(now) }
        }

        #expect(taken.count > 3000)
        for index in taken.indices.dropFirst(30) {
            #expect(taken[index - 30].duration(to: taken[index]) >= .seconds(60))
        }
    }

    @Test("tells when the next one may happen")
    func nextFree() {
        var budget = RollingBudget(limit: 2)
        let start = BootInstant(nanoseconds: 0)
        let later = start.advanced(by: .seconds(5))

        let taken = [budget.take(at: start), budget.take(at: later), budget.take(at: later)]

        #expect(taken == [true, true, false])
        #expect(budget.nextFree(at: later) == start.advanced(by: .seconds(62)))
        #expect(budget.left(at: start.advanced(by: .seconds(62))) == 1)
    }

    @Test("points that others sent are counted, and a budget of nothing is never free")
    func others() {
        var budget = RollingBudget(limit: 3)
        let now = BootInstant(nanoseconds: 0)
        budget.count(3, at: now)
        let taken = budget.take(at: now)

        #expect(!taken)
        #expect(RollingBudget(limit: 0).nextFree(at: now) == nil)
    }
}
