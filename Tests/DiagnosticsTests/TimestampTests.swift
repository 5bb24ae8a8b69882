import Diagnostics
import Testing

@Suite("Timestamp")
struct TimestampTests {
    @Test(
        "reads ISO 8601 in the forms that services and phones send",
        arguments: [
            ("2020-05-12T20:52:50Z", 1_589_316_770_000_000_000),
            ("2020-05-12T20:52:50.5Z", 1_589_316_770_500_000_000),
            ("2015-10-01T08:00:00-0700", 1_443_711_600_000_000_000),
            ("2020-05-12T22:52:50.123456789+02:00", 1_589_316_770_123_456_789),
            ("1969-12-31T23:59:59.750Z", -250_000_000),
        ] as [(String, Int64)]
    )
    func readsISO8601(text: String, nanoseconds: Int64) throws {
        let time = try #require(Timestamp(iso8601: text))

        #expect(time.nanoseconds == nanoseconds)
    }

    @Test(
        "refuses what is no time",
        arguments: ["", "yesterday", "2020-05-12", "2020-05-12T20:52:50", "2020-05-12T20:52:50.Z"]
    )
    func refusesNonsense(text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test("prints what it reads")
    func roundTrip() {
        let time = Timestamp(nanoseconds: 1_589_316_770_123_456_789)

        #expect(time.description == "2020-05-12T20:52:50.123Z")
        #expect(time.iso8601(fractionDigits: 9) == "2020-05-12T20:52:50.123456789Z")
        #expect(Timestamp(nanoseconds: -250_000_000).description == "1969-12-31T23:59:59.750Z")
    }

    @Test("clamps at the ends instead of trapping")
    func clamps() {
        let last = Timestamp(nanoseconds: .max)

        #expect(last + .seconds(1) == last)
        #expect(Timestamp(seconds: 1e300).nanoseconds > 0)
        #expect(Timestamp(seconds: .nan).nanoseconds == 0)
    }
}
