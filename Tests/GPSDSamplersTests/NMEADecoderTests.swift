import Diagnostics
import Samples
import TestKit
import Testing

@testable import GPSDSamplers

@Suite("NMEA sentences")
struct NMEADecoderTests {
    private func samples(_ text: String, _ decoder: NMEADecoder = NMEADecoder()) -> [TrackSample] {
        decoder.decode(Array(text.utf8), isLast: true)
    }

    @Test("RMC and GGA of one epoch make one fix, with metres a second and signed degrees")
    func mergesEpochs() throws {
        let found = samples(
            """
            $GNRMC,171926.00,A,4404.14063,N,12118.85478,W,0.117,,180315,,,A*76\r
            $GNGGA,171926.00,4404.14063,N,12118.85478,W,1,12,0.91,1147.2,M,-21.3,M,,*44\r
            $GNRMC,171927.00,A,4404.14058,N,12118.85475,W,0.084,,180315,,,A*79\r

            """
        )

        #expect(found.count == 2)
        let first = try #require(found.first)
        #expect(first.stream.name.text == "location")
        #expect(first.time == Timestamp(iso8601: "2015-03-18T17:19:26Z"))
        #expect(abs((first.values[0].number ?? 0) - 44.069_010_5) < 1e-9)
        #expect(abs((first.values[1].number ?? 0) + 121.314_246_333) < 1e-9)
        #expect(first.values[2] == .real(1_147.2))
        #expect(abs((first.values[4].number ?? 0) - 0.060_19) < 1e-5)
        // An empty course is unknown, not north.
        #expect(first.values[5] == .missing)
    }

    @Test(
        "sentences that real receivers got wrong give no position",
        .enabled(if: Recordings.isAvailable)
    )
    func refusesBroken() throws {
        let rows = try Recordings.text("nmea/real_bad_sentences.tsv").split(whereSeparator: \.isNewline).dropFirst()

        #expect(rows.count >= 8)
        for row in rows {
            let sentence = row.split(separator: "\t")[0]
            #expect(samples(sentence + "\r\n").isEmpty, "\(row)")
        }
    }

    @Test("a broken sentence between good ones costs itself only")
    func keepsGoing() {
        let decoder = NMEADecoder()
        let found = samples(
            """
            $GNRMC,171926.00,A,4404.14063,N,12118.85478,W,0.117,,180315,,,A*76
            $GPRMC,181536.000,A,5936.79K,D*3A
            $GPGGA,201019.00,3249.20458,N,1,-25.6,M,,*6A
            $GNRMC,171927.00,A,4404.14058,N,12118.85475,W,0.084,,180315,,,A*79
            """,
            decoder
        )

        #expect(found.count == 2)
        #expect(decoder.rejected == 2)
        #expect(decoder.rejectedExample?.contains("RMC") == true)
    }

    @Test("GGA after midnight belongs to the next day, before any date says so")
    func rollsDays() {
        let found = samples(
            """
            $GPRMC,235959,A,4829.0005,N,00022.0016,E,0.16,212.28,311219,,,A*71
            $GPGGA,000000,4829.0005,N,00022.0016,E,1,08,1.0,100.0,M,47.0,M,,*4C
            """
        )

        #expect(found.map(\.time.description) == ["2019-12-31T23:59:59.000Z", "2020-01-01T00:00:00.000Z"])
    }

    @Test(
        "positions agree with those that gpsd found in the same sentences",
        .enabled(if: Recordings.isAvailable),
        arguments: ["neo-m8n", "tcp-torture"]
    )
    func agreesWithGPSD(_ name: String) throws {
        let ours = NMEADecoder().decode(try Recordings.bytes("gpsd/\(name).log"), isLast: true)
        let theirs = GPSDDecoder().decode(try Recordings.bytes("gpsd/\(name).gpsd3.22.json"), isLast: true)
        let week: Int64 = 7 * 86_400_000_000_000

        #expect(theirs.count >= 1)
        for fix in theirs {
            // gpsd adds 1024 weeks to old dates.
            let same = ours.first { (fix.time.nanoseconds - $0.time.nanoseconds) % (1_024 * week) == 0 }
            let found = try #require(same)
            for place in 0..<2 {
                #expect(abs((found.values[place].number ?? 0) - (fix.values[place].number ?? 1)) < 1e-8)
            }
        }
    }

    @Test("the pieces in which bytes come make no difference, and no bytes stop the decoder")
    func takesAnyPieces() {
        let text = """
            $GNRMC,171926.00,A,4404.14063,N,12118.85478,W,0.117,,180315,,,A*76\r
            \u{0}\u{1}$GNGGA,171926.00,4404.14063,N,12118.85478,W,1,12,0.91,1147.2,M,-21.3,M,,*44\r

            """
        let whole = NMEADecoder().decode(Array(text.utf8), isLast: true)
        let decoder = NMEADecoder()
        var pieces: [TrackSample] = []
        for byte in text.utf8 { pieces += decoder.decode([byte], isLast: false) }
        pieces += decoder.decode([], isLast: true)

        #expect(whole.map(\.values) == pieces.map(\.values))
        #expect(whole.count == 1)

        var random = SystemRandomNumberGenerator()
        let bytes = Array(text.utf8)
        for _ in 0..<2_000 {
            var broken = bytes
            for _ in 0..<4 {
                broken[Int.random(in: 0..<broken.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = NMEADecoder().decode(broken, isLast: true)
        }
    }

    @Test("a receiver whose 1024 weeks have passed is moved on when asked to")
    func movesWeeks() {
        let decoder = NMEADecoder(notBefore: Timestamp(iso8601: "2019-01-01T00:00:00Z"))

        let found = samples("$GPRMC,000231.42,A,4829.0005,N,00022.0016,E,0.16,212.28,220899,,,A*59", decoder)

        #expect(found.first?.time.description == "2019-04-07T00:02:31.420Z")
    }
}
