import Control
import Diagnostics
import FastJSON
import Foundation
import Outbox
import Publisher
import Recorder
import Samples
import Simulator
import TestKit
import Testing

@testable import Bridge

/// A bridge with phones and a local broker, against a simulator in this process.
private final class PhoneWorld: Sendable {
    let io: SimulatedIO
    let service: BridgeService
    let talk = Talk()
    let port: Int
    let token: String
    private let running: Task<Void, any Error>

    init(_ text: String) async throws {
        let io = try SimulatedIO()
        self.io = io
        port = LocalPorts.free()
        let context = try io.context("[http]\nlisten = \"127.0.0.1:\(port)\"\n" + text, account: "plan = 10000")
        let configuration = try context.configuration()
        let directory = try StateDirectory(configuration, environment: [:])
        try directory.make(configurationFile: configuration.file)
        let samplers = try SamplerFactory.make(configuration, time: SystemTime())
        let service = try await BridgeService(
            configuration,
            key: Secret("key"),
            directory: directory,
            environment: context.environment,
            time: SystemTime(),
            log: talk.log
        )
        self.service = service
        running = Task { try await service.run(samplers) }
        let file = directory.file("http-token")
        let port = port
        try await until("the door is open") {
            guard access(file, R_OK) == 0 else { return false }
            return (try? await PhoneWorld.status(of: port)) == 200
        }
        token = try io.folder.read("state/http-token").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func status(of port: Int) async throws -> Int? {
        let answer = try await ChildProcess.run(
            "curl",
            ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(port)/healthz"]
        )
        return Int(answer)
    }

    func rewrite(_ text: String) throws {
        _ = try io.context("[http]\nlisten = \"127.0.0.1:\(port)\"\n" + text, account: "plan = 10000")
    }

    func end() async throws {
        running.cancel()
        try await running.value
        await io.simulator.stop()
    }

    /// Posts with curl; the status and the answer.
    func post(_ path: String, _ body: String, token: String? = nil) async throws -> (status: Int, text: String) {
        let header = "Authorization: Bearer \(token ?? self.token)"
        let output = try await ChildProcess.run(
            "curl",
            [
                "-s", "-H", header, "-H", "Expect:", "--data-binary", "@-", "-w", "\n%{http_code}",
                "http://127.0.0.1:\(port)\(path)",
            ],
            input: body
        )
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }
}

@Suite("Phones and devices at a running bridge", .timeLimit(.minutes(3)))
struct PhoneServiceTests {
    @Test("what a phone posts is on the disk when it is answered, in the session that was running, and once")
    func phone() async throws {
        let world = try await PhoneWorld(
            """
            [[sampler]]
            kind = "sensor-logger"
            platform = "android"
            [[sampler]]
            kind = "json"
            [[rule]]
            stream = "light"
            field = "value"
            feed = "light"
            every = "1 s"
            always = true
            """
        )
        let now = SystemTime().wall().nanoseconds
        func post(_ id: Int, _ time: Int64) -> String {
            #"{"messageId":\#(id),"sessionId":"s","deviceId":"d","payload":[{"name":"light","time":\#(time),"values":{"lux":\#(id)}}]}"#
        }

        // Outside a session: kept.
        #expect(try await world.post("/in/sensor-logger", post(1, now - 5_000_000_000)).text == #"{"result":"ok"}"#)
        guard case .recording(let session) = await world.service.control.command(.start) else {
            Issue.record("the recording did not start")
            return
        }
        let time = SystemTime().wall().nanoseconds
        #expect(try await world.post("/in/sensor-logger", post(2, time)).status == 200)
        #expect(try await world.post("/in/sensor-logger", post(2, time)).status == 200)
        #expect(try await world.post("/in/json/weather", #"{"t":1}"#).status == 200)
        #expect(try await world.post("/in/json/light", #"{"value":1}"#).status == 409)
        #expect(try await world.post("/in/sensor-logger", "garbage").status == 400)
        #expect(try await world.post("/in/sensor-logger", post(3, time), token: "wrong-token").status == 401)
        _ = await world.service.control.command(.stop)

        let recorded = try await world.service.recorder.session(session)
        #expect(recorded.samples[Name(mapping: "light")] == 1)
        #expect(recorded.samples[Name(mapping: "weather")] == 1)
        let status = await world.service.status()
        #expect(status.streams[Name(mapping: "light")]?.good == 2)
        #expect(status.streams[Name(mapping: "sensor_logger")]?.bad == 1)
        #expect(status.streams[Name(mapping: "sensor_logger")]?.duplicate == 1)
        try await until("the simulator has the points") {
            await world.service.status().points.confirmed >= 2
        }
        let sensors = SensorReport(await world.service.pushed())
        #expect(sensors.text.contains("light                        ok  value 2 lx"))
        #expect(sensors.text.contains("weather                      ok  t 1"))
        #expect(!world.talk.text.contains(world.token))
        try await world.end()
    }

    @Test("a changed configuration opens and closes doors, with the same token")
    func reload() async throws {
        let world = try await PhoneWorld("[[sampler]]\nkind = \"json\"\n")
        let batch =
            #"{"locations":[{"geometry":{"coordinates":[2,1]},"properties":{"timestamp":"2025-12-31T10:00:00Z"}}]}"#
        #expect(try await world.post("/in/json/x", #"{"v":1}"#).status == 200)
        #expect(try await world.post("/in/overland", batch).status == 404)

        try world.rewrite("[[sampler]]\nkind = \"overland\"\nwhen_off = \"refuse\"\n")
        await world.service.reload()
        #expect(try await world.post("/in/overland", batch).status == 503)
        #expect(try await world.post("/in/json/x", #"{"v":1}"#).status == 404)
        _ = await world.service.control.command(.start)
        #expect(try await world.post("/in/overland", batch).status == 200)
        try await world.end()
    }

    @Test("a device's values are published, and the dashboard's control reaches the device once")
    func device() async throws {
        let broker = try await Broker.start()
        let world = try await PhoneWorld(
            """
            [broker]
            url = "mqtt://127.0.0.1:\(broker.port)"
            [[sampler]]
            kind = "mqtt"
            preset = "zigbee2mqtt"
            [[rule]]
            stream = "zigbee2mqtt.lamp"
            field = "brightness"
            feed = "brightness"
            every = "100 ms"
            always = true
            [[forward]]
            feed = "lamp"
            topic = "zigbee2mqtt/lamp/set"
            template = '{"state":"{value}"}'
            """
        )
        let device = try await broker.subscriber(["-t", "zigbee2mqtt/lamp/set"])
        try await until("the link is up") { await world.service.status().delivery.link == .mqtt }

        var brightness = 0
        while (await world.service.status().streams[Name(mapping: "zigbee2mqtt.lamp")]?.good ?? 0) == 0 {
            brightness += 1
            try await broker.publish(#"{"brightness":\#(brightness),"state":"OFF"}"#, to: "zigbee2mqtt/lamp")
        }
        try await until("the simulator has the brightness") { await world.service.status().points.confirmed > 0 }

        let account = ["-h", "127.0.0.1", "-p", "\(world.io.simulator.mqttPort)", "-u", "ada", "-P", "key"]
        // Until the feed is followed, what is written goes by.
        try await until("the device is told") {
            if device.output.contains("ON") { return true }
            _ = try? await ChildProcess.run("mosquitto_pub", account + ["-q", "1", "-t", "ada/f/lamp", "-m", "ON"])
            return device.output.contains("ON")
        }
        _ = try await ChildProcess.run("mosquitto_pub", account + ["-q", "1", "-t", "ada/f/lamp", "-m", "ON"])
        _ = try await ChildProcess.run("mosquitto_pub", account + ["-q", "1", "-t", "ada/f/lamp", "-m", "OFF"])
        try await device.untilOutput(contains: "OFF")

        let told = device.output.split(separator: "\n").filter { $0.contains("lamp/set {") }
        #expect(told == [#"zigbee2mqtt/lamp/set {"state":"ON"}"#, #"zigbee2mqtt/lamp/set {"state":"OFF"}"#])
        try await world.end()
    }
}
