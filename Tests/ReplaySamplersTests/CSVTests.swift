import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import ReplaySamplers

@Suite("Files to replay", .timeLimit(.minutes(5))) struct CSVTests {
    @Test("rows become samples with the units of a known stream")
    func rows() async throws {
        let contents = try await replay("time_ns,x,y,z\n1790000000123456789,0.5,-9.81,1e-3\n1790000000133456789,1,2,\n")

        let stream = try #require(contents.batches.first?.stream)
        #expect(
            stream.fields.map(\.unit) == [.metresPerSecondSquared, .metresPerSecondSquared, .metresPerSecondSquared]
        )
        let samples = contents.samples(of: "accelerometer")
        #expect(samples.map(\.time.nanoseconds) == [1_790_000_000_123_456_789, 1_790_000_000_133_456_789])
        #expect(samples.map(\.values) == [[.real(0.5), .real(-9.81), .real(0.001)], [.real(1), .real(2), .missing]])
        #expect(contents.words(of: "accelerometer") == ["ok", "silent"])
        #expect(contents.rejects.isEmpty)
    }

    @Test(
        "every form of time is read",
        arguments: [
            ("time_ns", "1790000000123456789"), ("time_ms", "1790000000123.456789"), ("time_s", "1790000000.123456789"),
            ("time", "1790000000.123456789"), ("time", "1790000000123456789"), (" Time_NS ", " 1790000000123456789 "),
        ]
    )
    func timeForms(_ column: String, _ text: String) async throws {
        let contents = try await replay("x,\(column)\n1,\(text)\n")

        #expect(contents.samples(of: "accelerometer").map(\.time.nanoseconds) == [1_790_000_000_123_456_789])
    }

    @Test("the first row decides what a bare time is")
    func bareTime() async throws {
        let seconds = try await replay("time,x\n0.5,1\n1000,2\n")
        let nanoseconds = try await replay("time,x\n1000000000000000,1\n999999999999999,2\n")

        #expect(seconds.samples(of: "accelerometer").map(\.time.nanoseconds) == [500_000_000, 1_000_000_000_000])
        #expect(
            nanoseconds.samples(of: "accelerometer").map(\.time.nanoseconds) == [
                1_000_000_000_000_000, 999_999_999_999_999,
            ]
        )
    }

    @Test("a broken row is counted with its line, and costs itself only")
    func brokenRows() async throws {
        let text = """
            # a comment
            time_s,x,y

            1,1,1
            2,one,1
            3,1
            4,1,1,1
            # 5,1,1
            ,1,1
            6,,
            seven,1,1
            99999999999999,1,1
            8,nan,8
            9,9,9,,
            """
        let contents = try await replay(text)

        #expect(contents.samples(of: "accelerometer").map(\.time.seconds) == [1, 8, 9])
        #expect(contents.samples(of: "accelerometer")[1].values == [.missing, .real(8)])
        #expect(contents.rejects.map(\.count) == [7])
        #expect(contents.rejects.first?.example.hasSuffix(", line 5: x is \"one\", which is no number") == true)
        #expect(contents.rejects.first?.stream == name("accelerometer"))
    }

    @Test("CRLF, a byte order mark, quotes, skipped columns and a last line without a line feed are all right")
    func dialects() async throws {
        let contents = try await replay(
            "\u{FEFF}\"time_s\",\"x\",-,note,\r\n1,\"2\",junk,\"say \"\"hi\"\", you\",more\r\n2,3,junk,plain \"q\" x,",
            as: "thing"
        )

        #expect(contents.rejects.isEmpty)
        #expect(contents.batches.first?.stream.fields.map(\.name.text) == ["x", "note"])
        #expect(
            contents.samples(of: "thing").map(\.values) == [
                [.real(2), .text("say \"hi\", you")], [.real(3), .text("plain \"q\" x")],
            ]
        )
    }

    @Test("words, flags and numbers of an unknown stream are told apart; those of a known one are what it says")
    func kinds() async throws {
        let unknown = try await replay("time_s,a,b,c,d\n1,,true,walk,1\n2,5,False,2,\n", as: "thing")
        #expect(unknown.batches.first?.stream.fields.map(\.kind) == [.real, .flag, .text, .real])
        #expect(unknown.samples(of: "thing").last?.values == [.real(5), .flag(false), .text("2"), .missing])

        let known = try await replay(
            "time_s,uuid,major,rssi\n1,12,7,-60\n2,ab,7.5,-61\n3,ab,8.0,-61\n",
            as: "beacon.hall"
        )
        #expect(known.batches.first?.stream.fields.map(\.kind) == [.text, .integer, .real])
        #expect(known.samples(of: "beacon.hall").map(\.values[1]) == [.integer(7), .integer(8)])
        #expect(known.rejects.first?.example.contains("whole number") == true)
    }

    @Test("a header that cannot be used is refused with the place and the remedy")
    func refusals() throws {
        #expect(try refusal("")?.description.contains("no header") == true)
        #expect(try refusal("# only\n\n")?.description.contains("no header") == true)
        #expect(try refusal("1790000000,1,2\n")?.description.contains("no header") == true)
        #expect(
            try refusal("\n# c\na,b\n1,2\n")?.description.contains("bad.csv, line 3: no column of the header is a time")
                == true
        )
        #expect(try refusal("time_ns,time_s,x\n")?.description.contains("both times") == true)
        #expect(try refusal("time_ns\n1\n")?.description.contains("no field") == true)
        #expect(try refusal("time_ns,x,X\n")?.description.contains("two columns are called \"x\"") == true)
        let wide = (0..<65).map { "f\($0)" }.joined(separator: ",")
        #expect(try refusal("time_ns,\(wide)\n")?.description.contains("at most 64") == true)
        #expect(try refusal("time_ns,x,X\n")?.kind == .header)
    }

    @Test("a missing file is refused when the sampler is made, with its path")
    func missingFile() {
        let error = #expect(throws: ReplayError.self) {
            try ReplaySampler(ReplayConfiguration(stream: name("s"), file: "/nowhere/walk.csv"), time: ManualTime())
        }

        #expect(error?.kind == .file)
        #expect(error?.description.contains("/nowhere/walk.csv is not there") == true)
    }

    @Test("a line longer than a megabyte is broken and no more")
    func longLine() async throws {
        let contents = try await replay(
            "time_s,x\n1,1\n2,\(String(repeating: "9", count: 3_000_000))\n3,3\n"
        )

        #expect(contents.samples(of: "accelerometer").map(\.time.seconds) == [1, 3])
        #expect(contents.rejects.first?.example.contains(", line 3: it is longer") == true)
    }

    @Test("a time that is years from its neighbours is a broken row, a real gap is not")
    func outliers() async throws {
        let contents = try await replay("time_s,x\n0,0\n1000,1\n1000000000,2\n1001,3\n9000000,4\n9000001,5\n")
        #expect(contents.samples(of: "accelerometer").map { $0.values[0].number } == [0, 1, 3, 4, 5])
        #expect(contents.rejects.first?.example.contains(", line 4: its time is far") == true)

        let unset = try await replay("time_s,x\n5,0\n1790000000,1\n1790000001,2\n")
        #expect(unset.samples(of: "accelerometer").map { $0.values[0].number } == [1, 2])
        #expect(unset.rejects.first?.example.contains(", line 2: its time is far") == true)

        let single = try await replay("time_s,x\n5,7\n")
        #expect(single.samples(of: "accelerometer").map { $0.values[0].number } == [7])
    }

    @Test("random bytes behind a header never stop the program", arguments: 0..<20 as Range<UInt64>)
    func noise(_ seed: UInt64) async throws {
        var state = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        func random(_ below: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % below
        }
        let alphabet = Array("0123456789,,,\n\n\".-e \r#ntrue\u{0}é".utf8)
        let body = (0..<5_000).map { _ in alphabet[Int(random(UInt64(alphabet.count)))] }
        let contents = try await replay("time_s,x,y\n1,1,1\n" + String(decoding: body, as: UTF8.self))

        #expect(contents.rejects.reduce(0) { $0 + $1.count } > 0)
        #expect(contents.batches.allSatisfy { $0.values.count == $0.count * 2 })
    }
}
