import BusSamplers
import Diagnostics
import Samples
import TestKit
import Testing

@Suite("iio-sensor-proxy", .timeLimit(.minutes(10)))
struct SensorProxyTests {
    private let sink = CollectingSink()

    private func service(_ bus: PrivateBus, _ parameters: String) async throws -> ChildProcess {
        let child = try ChildProcess(
            "/usr/bin/python3",
            ["-u", "-m", "dbusmock", "--system", "--template", "iio-sensors-proxy", "--parameters", parameters],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        )
        return child
    }

    private func set(_ bus: PrivateBus, _ property: String, _ value: String) async throws {
        let child = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                """
                import dbus
                o = dbus.SystemBus().get_object('net.hadess.SensorProxy', '/net/hadess/SensorProxy')
                dbus.Interface(o, 'org.freedesktop.DBus.Mock').SetInternalProperty('net.hadess.SensorProxy', '\(property)', \(value))
                """,
            ],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        )
        let code = try await child.ended()
        #expect(code == 0, "\(child.talk)")
    }

    private func samples(_ stream: String) -> [Value] { sink.contents.samples(of: stream).map { $0.values[0] } }

    private func word(_ stream: String) -> String? { sink.contents.words(of: stream).last }

    @Test("what is claimed is told as it changes; a service that goes and comes back is claimed again")
    func follows() async throws {
        let bus = try await PrivateBus.start()
        let sampler = SensorProxySampler(["orientation", "light", "proximity"], bus: bus.address)
        let running = Task { try await sampler.run(into: sink) }
        defer { running.cancel() }
        try await until("it says that the service is missing") { word("light") == "missing" }

        let parameters = "{\"has_accelerometer\": true, \"has_ambient_light\": true, \"light_level\": 7.5}"
        let first = try await service(bus, parameters)
        try await until("light and its unit are there") { samples("light") == [.real(7.5)] }
        #expect(word("proximity") == "missing")
        try await until("the accelerometer is claimed") { word("orientation") == "silent" }
        try await set(bus, "AccelerometerOrientation", "'normal'")
        try await set(bus, "AccelerometerOrientation", "'left-up'")
        try await set(bus, "LightLevel", "120.0")
        try await until("the changes are there") {
            samples("orientation") == [.text("portrait"), .text("landscape_right")]
                && samples("light").last == .real(120)
        }

        first.signal(9)
        try await until("it says that the service is gone") { word("light") == "missing" }
        let second = try await service(bus, "{\"has_ambient_light\": true, \"light_level\": 9.0}")
        try await until("it is claimed again") { samples("light").last == .real(9) }
        try await set(bus, "LightLevel", "10.0")
        try await until("it moves again") { samples("light").last == .real(10) }
        second.signal(9)
    }

    @Test("a sensor that appears later is claimed then")
    func appears() async throws {
        let bus = try await PrivateBus.start()
        let proxy = try await service(bus, "{}")
        let sampler = SensorProxySampler(["proximity"], bus: bus.address)
        let running = Task { try await sampler.run(into: sink) }
        defer { running.cancel() }
        try await until("it says that there is none") {
            sink.contents.reports.last?.condition == .missing("this machine has no such sensor")
        }
        try await set(bus, "HasProximity", "True")
        try await until("it is there") { word("proximity") == "ok" }
        try await set(bus, "ProximityNear", "True")
        try await until("it is near") { samples("proximity").last == .flag(true) }
        proxy.signal(9)
    }

    @Test("per cent of an unknown light are not taken for lux")
    func vendorUnit() async throws {
        let bus = try await PrivateBus.start()
        let proxy = try await service(
            bus,
            "{\"has_ambient_light\": true, \"light_level\": 50.0, \"light_level_unit\": \"vendor\"}"
        )
        try await until("the mock answers") {
            await SensorProxySampler(["light"], bus: bus.address).readings().first?.condition.word == "error"
        }
        proxy.signal(9)
    }
}
