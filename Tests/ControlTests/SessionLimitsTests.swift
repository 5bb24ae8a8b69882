import Control
import Testing

@Suite("The limits of a session")
struct SessionLimitsTests {
    private let limits = SessionLimits(longestSession: .seconds(3600), smallestFree: 500_000_000)

    @Test("end it when it has lasted as long as it may")
    func longest() {
        #expect(limits.reached(age: .seconds(3599), free: 600_000_000) == nil)
        #expect(limits.reached(age: .seconds(3600), free: 600_000_000) == .longestSession(.seconds(3600)))
        #expect(limits.timeLeft(age: .seconds(3000)) == .seconds(600))
        #expect(limits.timeLeft(age: .seconds(4000)) == .zero)
    }

    @Test("end it when less is free than must be, and not while nobody knows")
    func smallest() {
        #expect(
            limits.reached(age: .zero, free: 499_999_999) == .smallestFree(free: 499_999_999, limit: 500_000_000)
        )
        #expect(limits.reached(age: .zero, free: 500_000_000) == nil)
        #expect(limits.reached(age: .zero, free: nil) == nil)
    }

    @Test("are none unless set")
    func none() {
        let limits = SessionLimits(longestSession: nil, smallestFree: nil)

        #expect(limits.reached(age: .seconds(1_000_000_000), free: 0) == nil)
        #expect(limits.timeLeft(age: .zero) == nil)
    }
}
