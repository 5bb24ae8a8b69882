import AdafruitIO
import DataPoints
import Diagnostics
import Testing

@Suite("What is published for a point") struct PublishingTests {
    private func published(_ value: String, _ location: Location? = nil) throws -> String {
        let feed = try #require(FeedKey("motion"))
        let point = DataPoint(feed: feed, value: value, createdAt: Timestamp(nanoseconds: 0), location: location)
        return FeedPayload.published(point)
    }

    @Test("a value goes bare, and with a place as JSON")
    func plain() throws {
        #expect(try published("1.50") == "1.50")
        #expect(try published("{not json") == "{not json")
        let place = Location(latitude: 40.5, longitude: -3.25, elevation: 650)
        #expect(try published("1.50", place) == #"{"value":"1.50","lat":40.5,"lon":-3.25,"ele":650}"#)
    }

    @Test("an object goes within value, as an object and not as a text")
    func object() throws {
        let text = #"{"device_id":"d","timestamp":10,"host.load":{"one_minute":0.10}}"#
        #expect(try published(text) == #"{"value":{"device_id":"d","timestamp":10,"host.load":{"one_minute":0.10}}}"#)
        let place = Location(latitude: 1, longitude: 2)
        #expect(try published(text, place).hasPrefix(#"{"value":{"device_id":"d","#))
        #expect(try published(text, place).hasSuffix(#"}},"lat":1,"lon":2}"#))
    }

    @Test("what is published is read back as the point's text")
    func readsBack() throws {
        let text = #"{"device_id":"d","timestamp":10,"host.load":{"one_minute":0.10}}"#
        #expect(FeedPayload(Array(try published(text).utf8), form: .plain)?.value == text)
    }
}
