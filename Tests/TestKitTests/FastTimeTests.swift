import Diagnostics
import TestKit
import Testing

@Suite("Fast time")
struct FastTimeTests {
    @Test("a minute passes in a tenth of a second, on both clocks alike")
    func passes() async throws {
        let time = FastTime(factor: 600)
        let (wall, boot, start) = (time.wall(), time.boot(), ContinuousClock.now)

        try await time.sleep(for: .seconds(60))

        #expect(start.duration(to: .now) >= .milliseconds(99))
        #expect(boot.duration(to: time.boot()) >= .seconds(60) && time.wall() - wall >= .seconds(60))
    }
}
