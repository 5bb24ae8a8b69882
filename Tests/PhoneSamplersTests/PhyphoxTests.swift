import Diagnostics
import FastJSON
import HTTPServer
import Samples
import TestKit
import Testing

@testable import PhoneSamplers

@Suite("phyphox", .timeLimit(.minutes(5))) struct PhyphoxTests {
    private static let config = #"""
        {"title":"Acceleration","buffers":[{"name":"accX","size":0}],"inputs":[
        {"source":"accelerometer","outputs":[{"x":"accX"},{"y":"accY"},{"z":"accZ"},{"t":"acc_time"}]},
        {"source":"light","outputs":[{"x":"illum"},{"t":"illum time"}]},
        {"source":"audio","outputs":[{"out":"recording"}]}]}
        """#

    private func experiment() throws -> PhyphoxExperiment {
        try #require(PhyphoxExperiment(try JSON.parse(Self.config), naming: StreamNaming(suffix: nil)))
    }

    @Test("the buffers of an experiment are found by its inputs")
    func inputs() throws {
        let experiment = try experiment()

        #expect(experiment.inputs.map(\.stream.name.text) == ["accelerometer", "light"])
        #expect(experiment.inputs[0].buffers == ["accX", "accY", "accZ", "acc_time"])
        #expect(PhyphoxExperiment(["inputs": []], naming: StreamNaming(suffix: nil)) == nil)
        #expect(PhyphoxExperiment(5, naming: StreamNaming(suffix: nil)) == nil)
    }

    @Test("all is asked for at first, then what is newer; a time of zero or below is never a threshold")
    func requests() throws {
        var reading = PhyphoxReading(try experiment())
        let all = "/get?accX=full&accY=full&accZ=full&acc_time=full&illum=full&illum%20time=full"
        #expect(reading.request == all)

        _ = reading.read([
            "buffer": ["illum": ["buffer": [5]], "illum time": ["buffer": [0]]], "status": ["session": "s"],
        ])
        #expect(reading.request == all)
        _ = reading.read(
            ["buffer": ["illum": ["buffer": [6]], "illum time": ["buffer": [1.25]]], "status": ["session": "s"]]
        )
        #expect(
            reading.request
                == "/get?accX=full&accY=full&accZ=full&acc_time=full&illum=1.25%7Cillum%20time&illum%20time=1.25"
        )
    }

    @Test("the recorded answer is read, four samples of an iPhone at rest", .enabled(if: Recordings.isAvailable))
    func recorded() throws {
        var reading = PhyphoxReading(try experiment())

        let news = reading.read(try JSON.parse(try Recordings.bytes("phone/phyphox_get_reply_real.json")))

        #expect(news.isMeasuring)
        #expect(!news.isNewSession)
        #expect(news.rows.map(\.input) == [0])
        #expect(news.rows[0].rows.map(\.time).first == 2.5006562499329448)
        #expect(news.rows[0].rows.count == 4)
        #expect(
            news.rows[0].rows[0].values == [
                .real(0.17797988891601563), .real(0.2908451843261719), .real(9.756411437988282),
            ]
        )
        // The same once more brings nothing.
        #expect(reading.read(try JSON.parse(try Recordings.bytes("phone/phyphox_get_reply_real.json"))).rows.isEmpty)
    }

    private func answer(_ times: [Double?], _ values: [Double?], session: JSON = "s") -> JSON {
        [
            "buffer": [
                "illum": ["buffer": .array(values.map { JSON($0) })],
                "illum time": ["buffer": .array(times.map { JSON($0) })],
            ], "status": ["session": session, "measuring": true],
        ]
    }

    @Test("buffers of unequal length are paired by the shortest, and the rest comes next time")
    func unequal() throws {
        var reading = PhyphoxReading(try experiment())

        #expect(reading.read(answer([1, 2, 3], [10, 20])).rows.first?.rows.map(\.time) == [1, 2])
        let next = reading.read(answer([3, 4], [30, 40])).rows.first?.rows
        #expect(next?.map(\.time) == [3, 4])
        #expect(next?.map(\.values) == [[.real(30)], [.real(40)]])
    }

    @Test("what is no number is missing, and a sample without a time is none")
    func nulls() throws {
        var reading = PhyphoxReading(try experiment())

        let rows = reading.read(answer([1, nil, 3, 4], [nil, 5, 6, 7])).rows.first?.rows

        #expect(rows?.map(\.time) == [3, 4])
    }

    @Test("another session, and a time that goes back, start over")
    func sessions() throws {
        var reading = PhyphoxReading(try experiment())
        #expect(reading.read(answer([1, 2], [1, 2])).isNewSession == false)
        #expect(reading.read(answer([3], [3], session: "t")).isNewSession)

        var jumping = PhyphoxReading(try experiment())
        let news = jumping.read(answer([1.8, 2.9, 3.2, 0, 0.34], [1, 2, 3, 4, 5]))
        #expect(news.isNewSession)
        #expect(news.rows.first?.rows.map(\.time) == [1.8, 2.9, 3.2])
    }

    @Test("the newest start says when a time was")
    func clock() throws {
        let clock = try #require(
            PhyphoxClock(
                try JSON.parse(
                    #"""
                    [{"event":"START","experimentTime":0,"systemTime":1767225600.25},{"event":"PAUSE","experimentTime":10,"systemTime":1767225610.25},
                    {"event":"START","experimentTime":10,"systemTime":1767225700.5}]
                    """#
                )
            )
        )

        #expect(clock.wall(12.125).nanoseconds == 1_767_225_702_625_000_000)
        #expect(PhyphoxClock([]) == nil)
        #expect(PhyphoxClock([["event": "PAUSE", "experimentTime": 1, "systemTime": 2]]) == nil)
        #expect(PhyphoxClock(newest: 5, at: today).wall(4).nanoseconds == today.nanoseconds - 1_000_000_000)
    }

    @Test("nothing that a phone may answer ends the program")
    func hostile() throws {
        let texts = [
            "5", "null", "[]", "{}", #"{"buffer":5}"#,
            #"{"buffer":{"illum":{"buffer":5},"illum time":{"buffer":[1]}}}"#,
            #"{"buffer":{"illum":{"buffer":["a",{}]},"illum time":{"buffer":[1,[]]}},"status":7}"#,
            #"{"buffer":{"illum":{"buffer":[1]},"illum time":{"buffer":[1e308]}},"status":{"session":null}}"#,
        ]
        for text in texts {
            var reading = PhyphoxReading(try experiment())
            let json = try JSON.parse(text)
            _ = reading.read(json)
            _ = reading.request
            _ = PhyphoxExperiment(json, naming: StreamNaming(suffix: nil))
            _ = PhyphoxClock(json)
        }
        #expect(PhyphoxClock(newest: -1e308, at: today).wall(1e308).nanoseconds == 0)
    }

    @Test("the experiment is started, read with its own times, and stopped with the switch")
    func wholeWay() async throws {
        let asked = Guarded<[String]>([])
        let server = try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0),
            routes: ["config", "get", "time", "control"].map { path in
                HTTPRoute(.get, "/\(path)") { request in
                    let count = asked.withLock { asked in
                        asked.append(path + (request.first(named: "cmd") ?? ""))
                        return asked.count { $0 == "get" }
                    }
                    switch path {
                    case "config": return .json(Self.config)
                    case "time": return .json(#"[{"event":"START","experimentTime":0,"systemTime":1767225600}]"#)
                    case "get":
                        let list = (1...count).map { "\($0)" }.joined(separator: ",")
                        return .json(
                            #"{"buffer":{"illum":{"buffer":[\#(list)]},"illum time":{"buffer":[\#(list)]}},"status":{"session":"1","measuring":true}}"#
                        )
                    default: return .json(#"{"result":true}"#)
                    }
                }
            },
            log: .silent
        )
        let sink = CollectingSink()
        let sampler = PhyphoxSampler(
            PhyphoxConfiguration(url: "http://127.0.0.1:\(server.port)", every: .milliseconds(1))
        )

        let run = Task { try await sampler.run(into: sink) }
        await sink.until { $0.samples(of: "light").count >= 3 }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }

        let samples = sink.contents.samples(of: "light").prefix(3)
        #expect(samples.map(\.values) == [[.real(1)], [.real(2)], [.real(3)]])
        #expect(samples.map(\.time.nanoseconds) == [1, 2, 3].map { 1_767_225_600_000_000_000 + $0 * 1_000_000_000 })
        let order = asked.withLock { $0 }
        #expect(order.prefix(3) == ["config", "controlstart", "time"])
        #expect(order.last == "controlstop")
    }

    @Test("a phone that is away is told as missing, and waited for")
    func away() async throws {
        let sink = CollectingSink()
        let sampler = PhyphoxSampler(PhyphoxConfiguration(url: "http://127.0.0.1:1", every: .milliseconds(1)))

        let run = Task { try await sampler.run(into: sink) }
        await sink.until { $0.words(of: "accelerometer").contains("missing") }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }

        #expect(await sampler.readings().allSatisfy { $0.condition.word == "missing" })
    }
}
