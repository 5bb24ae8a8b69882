import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import ReplaySamplers

@Suite("Recordings of others")
struct RecordedFileTests {
    private func read(
        _ text: String,
        _ change: (inout RecordingOptions) -> Void = { _ in }
    ) throws -> (rows: [String: [(Int64, [Value])]], rejects: Int) {
        let folder = TemporaryDirectory()
        let path = folder.file("recording")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        var options = RecordingOptions()
        change(&options)
        var source = try RecordedFile.open(path, options)
        var rows: [String: [(Int64, [Value])]] = [:]
        while let batches = try source.next() {
            for batch in batches {
                for row in 0..<batch.count {
                    rows[batch.stream.name.text, default: []].append(
                        (batch.times[row].nanoseconds, Array(batch.sample(row)))
                    )
                }
            }
        }
        return (rows, source.rejects)
    }

    @Test("a header with units in brackets is understood")
    func readsUnits() throws {
        let rows = try read(
            """
            Time (s),Gyroscope X (deg/s),Gyroscope Y (deg/s),Gyroscope Z (deg/s),Accelerometer X (g),Accelerometer Y (g),Accelerometer Z (g)
            1.5,180,0,0,0,0,1
            """
        ).rows

        #expect(rows["gyroscope"]?[0].0 == 1_500_000_000)
        #expect(rows["gyroscope"]?[0].1 == [.real(.pi), .real(0), .real(0)])
        #expect(rows["accelerometer"]?[0].1 == [.real(0), .real(0), .real(9.80665)])
    }

    @Test("named columns, a rate, units and a sign are followed, and a header before them is passed over")
    func followsOptions() throws {
        let result = try read("Timestamp,Magnitude,Steps,Header\n0.0,17130,133,\"{'a': 1, 'b': 2}\"\n0.04,16518,,\n") {
            $0.columns = ["-", "a", "-", "-"]
            $0.rate = 25
            $0.accelerationUnit = "raw"
        }

        #expect(result.rows["accelerometer"]?.map(\.0) == [0, 40_000_000])
        #expect(result.rows["accelerometer"]?.map(\.1) == [[.real(17_130)], [.real(16_518)]])
        #expect(result.rejects == 0)

        let phone = try read("1000,0,0,-1\n") {
            $0.columns = ["time_ms", "ax", "ay", "az"]
            $0.accelerationUnit = "g"
            $0.hasPhoneSign = true
        }
        #expect(phone.rows["accelerometer"]?[0].1[2] == .real(9.80665))
    }

    @Test("rows between semicolons are accelerations in g, and the user's is added to gravity")
    func readsSemicolons() throws {
        let total = try read("0.5,0,1;0,0,1;") { $0.rate = 100 }
        #expect(total.rows["accelerometer"]?.map(\.0) == [0, 10_000_000])
        #expect(total.rows["accelerometer"]?[0].1[0] == .real(0.5 * 9.80665))

        let split = try read("0.5,0,0.25|0,0,-1;") { $0.rate = 100 }
        #expect(split.rows["accelerometer"]?[0].1 == [.real(0.5 * 9.80665), .real(0), .real(-0.75 * 9.80665)])
    }

    @Test("a time of 19 digits keeps every digit")
    func keepsNanoseconds() throws {
        let rows = try read("time,ax,ay,az\n1700000000123456789,1,2,3\n").rows

        #expect(rows["accelerometer"]?[0].0 == 1_700_000_000_123_456_789)
    }

    @Test("empty cells are missing, broken rows are skipped and counted")
    func skipsBrokenRows() throws {
        let result = try read("time_s,ax,ay,az,pressure\n1,1,2,3,1013\n2,1,2,3,\nx,1,2,3,1013\n4,,,,\n5,nan,2,3,\n")

        #expect(result.rows["pressure"]?.count == 1)
        #expect(result.rows["accelerometer"]?.map(\.0) == [1, 2, 5].map { $0 * 1_000_000_000 })
        #expect(result.rows["accelerometer"]?.last?.1[0] == .missing)
        #expect(result.rejects == 2)
    }

    @Test(
        "what cannot be understood is refused with what to do",
        arguments: ["1,2,3\n4,5,6\n", "", "time_s,foo\n1,2\n", "ax,ay,az\n1,2,3\n"]
    )
    func refuses(_ text: String) {
        #expect(throws: ReplayError.self) { try read(text) }
    }

    @Test("exports and messages of Sensor Logger are read, and what is no sensor of ours is passed over")
    func readsSensorLogger() throws {
        let export = try read(
            """
            [{"sensor":"TotalAcceleration","time":"1700000000123456789","seconds_elapsed":"0.1","x":"1","y":"2","z":""},
             {"sensor":"Battery","time":"1700000000123456789","batteryLevel":"0.5"},
             {"sensor":"Barometer","time":"1700000000223456789","relativeAltitude":"0","pressure":"1013.5"},
             {"sensor":"Gyroscope","x":"1"}]
            """
        )
        #expect(export.rows["accelerometer"]?[0].0 == 1_700_000_000_123_456_789)
        #expect(export.rows["accelerometer"]?[0].1 == [.real(1), .real(2), .missing])
        #expect(export.rows["pressure"]?[0].1 == [.real(1013.5)])
        #expect(export.rejects == 1)

        let message = try read(
            """
            {"messageId":1,"sessionId":"s","deviceId":"d","payload":[
            {"name":"gyroscope","time":1700000000123456789,"values":{"x":0.1,"y":0.2,"z":0.3}},
            {"name":"location","time":1700000000123456789,"values":{"latitude":47,"longitude":8,"speed":-1,"bearing":-1}}]}
            """
        )
        #expect(message.rows["gyroscope"]?[0].1 == [.real(0.1), .real(0.2), .real(0.3)])
        #expect(message.rows["location"]?[0].1[0] == .real(47))
        #expect(message.rows["location"]?[0].1[4] == .missing)
    }

    @Test("nonsense of every kind is got through", arguments: 0..<40)
    func survivesNonsense(_ seed: Int) throws {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return Int(state >> 33) % below
        }
        let alphabet = Array("0123456789.,;|-+eE\"{}[]:nax #\n\\time_s".utf8)
        let bytes = (0..<3_000).map { _ in alphabet[next(alphabet.count)] }
        for format in RecordingFormat.allCases {
            _ = try? read(String(decoding: bytes, as: UTF8.self)) {
                $0.format = format
                $0.columns = ["time_s", "ax", "ay", "az"]
            }
        }
    }
}
