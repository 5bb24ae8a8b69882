import TestKit
import Testing

@Suite("Recordings")
struct RecordingsTests {
    @Test("are found by their names", .enabled(if: Recordings.isAvailable))
    func found() throws {
        #expect(try Recordings.text("SOURCES.md").isEmpty == false)
        #expect(try Recordings.bytes("testing/iio_scans_le_s16x3_pad_s64.bin").count == 80)
    }

    @Test("one that is not there is told by name, with the remedy")
    func missing() {
        let error = #expect(throws: Recordings.Missing.self) { try Recordings.path("no/such/recording") }

        #expect(error?.description.contains("no/such/recording") == true)
        #expect(error?.description.contains("FEEDBRIDGE_RECORDINGS") == true)
    }
}
