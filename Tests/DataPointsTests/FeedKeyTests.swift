import DataPoints
import Testing

@Suite("Feed key")
struct FeedKeyTests {
    @Test(
        "takes keys of the service, with a group and without",
        arguments: ["load", "mq6-gas", "greenhouse.air-2", "7"]
    )
    func takes(text: String) {
        #expect(FeedKey(text)?.text == text)
    }

    @Test(
        "refuses what the service would not have as a key",
        arguments: [
            "", "Load", "a b", "a_b", "a.b.c", ".a", "a.", "ä", "a/b", "+", "#", String(repeating: "a", count: 129),
        ]
    )
    func refuses(text: String) {
        #expect(FeedKey(text) == nil)
    }

    @Test("tells the group and the feed's own key")
    func parts() throws {
        let key = try #require(FeedKey("greenhouse.air"))

        #expect(key.group == "greenhouse")
        #expect(key.short == "air")
        #expect(FeedKey("air")?.group == nil)
        #expect(FeedKey("air")?.short == "air")
    }

    @Test("a location shows only that there is one")
    func locationIsSafe() {
        #expect(!"\(Location(latitude: 40.4168, longitude: -3.7038))".contains("40"))
    }
}
