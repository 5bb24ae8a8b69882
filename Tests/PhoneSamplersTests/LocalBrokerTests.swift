import Diagnostics
import MQTT
import Samples
import TestKit
import Testing

@testable import PhoneSamplers

@Suite("The local broker", .timeLimit(.minutes(5))) struct LocalBrokerTests {
    private func broker(_ port: Int, _ samplers: [RunningSampler]) -> LocalBroker {
        LocalBroker(MQTTConfiguration(host: "127.0.0.1", port: port), samplers: samplers.map(\.sampler), log: .silent)
    }

    @Test("a foreign client's messages reach the samplers whose topics they are for")
    func messages() async throws {
        let mosquitto = try await Broker.start()
        let zigbee = await RunningSampler(
            PushConfiguration(.mqtt(DeviceShape(.zigbee2mqtt)), topics: ["zigbee2mqtt/#"])
        )
        let phone = await RunningSampler(
            PushConfiguration(.ownTracks(stepsEvery: .seconds(600), secretFile: nil), topics: ["owntracks/#"])
        )
        let local = broker(mosquitto.port, [zigbee, phone])
        let run = Task { await local.run() }
        let commands = try await mosquitto.subscriber(["-t", "owntracks/+/+/cmd"])

        // Until the subscriptions are there, messages go by.
        while zigbee.sink.samples == 0 {
            try await mosquitto.publish(#"{"temperature":21.5,"linkquality":90}"#, to: "zigbee2mqtt/kitchen")
        }
        while phone.sink.samples == 0 {
            try await mosquitto.publish(
                #"{"_type":"location","lat":1,"lon":2,"tst":1767225500}"#,
                to: "owntracks/ada/phone"
            )
        }
        try await commands.untilOutput(contains: "reportSteps")

        let stored = zigbee.sink.state.withLock { $0.stored.first }
        #expect(stored?.batch.stream.name.text == "zigbee2mqtt.kitchen")
        #expect(stored?.durably == false)
        #expect(commands.output.contains("owntracks/ada/phone/cmd"))
        #expect(phone.sink.samples == 1)
        run.cancel()
        await run.value
    }

    @Test("what is published reaches a foreign client, and without a broker the caller is told")
    func publish() async throws {
        let mosquitto = try await Broker.start()
        let local = broker(mosquitto.port, [])
        #expect(await local.publish("x", to: "lamp/set", retain: false) != nil)
        let run = Task { await local.run() }
        let device = try await mosquitto.subscriber(["-t", "lamp/set"])
        try await until("the broker is there") { await local.isConnected }

        #expect(await local.publish(#"{"state":"ON"}"#, to: "lamp/set", retain: false) == nil)
        try await device.untilOutput(contains: #"lamp/set {"state":"ON"}"#)
        run.cancel()
        await run.value
    }

    @Test("a broker that dies and returns is read again")
    func returns() async throws {
        let mosquitto = try await Broker.start()
        let any = await RunningSampler(PushConfiguration(.mqtt(DeviceShape()), topics: ["a/#"]))
        let local = broker(mosquitto.port, [any])
        let run = Task { await local.run() }
        while any.sink.samples == 0 { try await mosquitto.publish("1", to: "a/b") }

        try await mosquitto.restart()
        let before = any.sink.samples
        while any.sink.samples == before { try? await mosquitto.publish("2", to: "a/b") }

        run.cancel()
        await run.value
    }
}
