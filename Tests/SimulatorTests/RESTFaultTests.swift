import Diagnostics
import FastJSON
import TestKit
import Testing

@testable import Simulator

@Suite("The REST interface: what can be made to go wrong", .timeLimit(.minutes(5)))
struct RESTFaultTests {
    private func world(_ fault: String) async throws -> WebWorld {
        let world = try WebWorld()
        #expect(try await world.api("POST", "feeds", #"{"name":"load"}"#).status == 201)
        world.service.faults.add(try Fault(fault))
        return world
    }

    @Test("answers a status with Retry-After as often as told, stores nothing, then goes on")
    func status() async throws {
        let world = try await world("rest:status=503,retry_after=30,count=2")

        for _ in 1...2 {
            let refused = try await world.api("POST", "feeds/load/data", #"{"value":1}"#)
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "30")
        }

        #expect(try await world.api("POST", "feeds/load/data", #"{"value":2}"#).status == 200)
        #expect(try await world.api("GET", "feeds/load/data").json.array?.map { $0["value"]?.string } == ["2"])
    }

    @Test("tells its own time, once, and not the machine's")
    func date() async throws {
        let world = try WebWorld()

        #expect(try await world.api("GET", "feeds").headers["date"] == "Tue, 12 May 2020 20:52:50 GMT")
        #expect(
            HTTPDate(Timestamp(nanoseconds: 784_111_777_000_000_000)).description == "Sun, 06 Nov 1994 08:49:37 GMT"
        )
        #expect(HTTPDate(Timestamp(nanoseconds: -1)).description == "Wed, 31 Dec 1969 23:59:59 GMT")
        let raw = try await ChildProcess.run("curl", ["-si", "\(world.address)/api/v2/ada/feeds"])
        #expect(raw.lowercased().split(whereSeparator: \.isNewline).count { $0.hasPrefix("date:") } == 1)
    }

    @Test("loses every second answer, although the point is stored")
    func lostAnswer() async throws {
        let world = try await world("lost-answer:every=2")

        var statuses: [Int] = []
        for number in 1...4 {
            statuses.append(try await world.api("POST", "feeds/load/data", #"{"value":\#(number)}"#).status)
        }

        #expect(statuses == [200, 0, 200, 0])
        world.service.faults.clear()
        let values = try await world.api("GET", "feeds/load/data").json.array?.map { $0["value"]?.string }
        #expect(values == ["4", "3", "2", "1"])
    }

    @Test("answers slowly, after the time that was said")
    func slow() async throws {
        let world = try await world("rest-slow:ms=3000")

        async let answer = world.api("GET", "feeds/load")
        await world.time.untilSleeping()
        world.time.advance(by: .milliseconds(2999))
        // It still waits, else this would never return.
        await world.time.untilSleeping()
        world.time.advance(by: .milliseconds(1))

        #expect(try await answer.status == 200)
    }

    @Test("a back-dated point becomes the last value while the fault is on")
    func backdated() async throws {
        let world = try await world("backdated-last")
        _ = try await world.api("POST", "feeds/load/data", #"{"value":"now"}"#)

        _ = try await world.api("POST", "feeds/load/data", #"{"value":"before","created_at":"2020-05-12T20:00:00Z"}"#)

        #expect(try await world.api("GET", "feeds/load/data/last").json["value"] == "before")
    }
}
