import BusSamplers
import Diagnostics
import Samples
import TestKit
import Testing

@Suite("Bluetooth through BlueZ", .timeLimit(.minutes(10)))
struct BluetoothSamplerTests {
    private let sink = CollectingSink()

    /// Runs the sampler while `body` does.
    private func following(
        _ mock: MockBlueZ,
        _ configuration: BluetoothConfiguration,
        _ body: () async throws -> Void
    ) async throws {
        let sampler = BluetoothSampler(configuration, bus: mock.bus.address)
        let running = Task { try await sampler.run(into: sink) }
        defer { running.cancel() }
        try await body()
    }

    private func values(_ stream: String) -> [[Value]] { sink.contents.samples(of: stream).map(\.values) }

    private func condition(_ stream: String) -> SourceCondition? {
        sink.contents.reports.last { $0.stream.text == stream }?.condition
    }

    @Test("a strap is found, connected and read, beat by beat; after it was away it is connected again")
    func strap() async throws {
        let mock = try await MockBlueZ.start()
        let daemon = try await mock.daemon()
        try await mock.addStrap()
        var configuration = BluetoothConfiguration()
        configuration.strap = .any
        try await following(mock, configuration) {
            let notify =
                "on('\(MockBlueZ.characteristic)').UpdateProperties('org.bluez.GattCharacteristic1', {'Value': "
            try await until("notifications are asked for") {
                try await mock.calls(MockBlueZ.characteristic).contains("StartNotify")
            }
            try await mock.script(
                notify + "dbus.Array([dbus.Byte(x) for x in bytes.fromhex('163c00040002')], signature='y')})"
            )
            try await until("the beats are there") { values("heart_rate").count == 2 }
            #expect(values("heart_rate") == [[.real(60), .real(1)], [.real(60), .real(0.5)]])
            let batch = try #require(sink.contents.batches.first { $0.stream.name.text == "heart_rate" })
            #expect(batch.times[1] - batch.times[0] == .milliseconds(500))
            #expect(condition("heart_rate") == .ok)

            // Out of range: the device says so, and is connected again.
            let device = "dbus.Interface(con.get_object('org.bluez', '\(MockBlueZ.device)'), 'org.bluez.Device1')"
            try await mock.script(device + ".Disconnect()")
            try await until("the strap is missed") {
                if case .missing = condition("heart_rate") { true } else { false }
            }
            try await until("notifications are asked for once more") {
                try await mock.calls(MockBlueZ.characteristic).filter { $0 == "StartNotify" }.count >= 2
            }
            try await mock.script(
                notify + "dbus.Array([dbus.Byte(x) for x in bytes.fromhex('103eb103')], signature='y')})"
            )
            try await until("a beat comes again") { values("heart_rate").last == [.real(62), .real(945.0 / 1024)] }
            _ = daemon
        }
    }

    @Test("beacons are told by UUID and numbers, with their strength; others are not")
    func beacons() async throws {
        let mock = try await MockBlueZ.start()
        let daemon = try await mock.daemon()
        try await mock.script("mock.AddDevice('hci0', '11:22:33:44:55:66', 'beacon')")
        var configuration = BluetoothConfiguration()
        configuration.beacons = [.init(uuid: "e2c56db5-dffb-48d2-b060-d0f5a71096e0", major: 100)]
        try await following(mock, configuration) {
            try await until("it scans") { try await mock.calls("/org/bluez/hci0").contains("StartDiscovery") }
            try await mock.script(
                """
                d = '\(MockBlueZ.device)'
                advertise(d, -77, {0x004c: '0215e2c56db5dffb48d2b060d0f5a71096e000640000c5'})
                advertise(d, -60, {0x004c: '0215e2c56db5dffb48d2b060d0f5a71096e000650000c5'})
                advertise(d, -60, {0x004c: '1005441cbd08c5'})
                advertise(d, -70, {0x004c: '0215e2c56db5dffb48d2b060d0f5a71096e00064000064'})
                """
            )
            try await until("both sightings are there") { values("beacon").count >= 2 }
            let uuid = Value.text("e2c56db5-dffb-48d2-b060-d0f5a71096e0")
            #expect(
                values("beacon") == [
                    [uuid, .integer(100), .integer(0), .real(-77), .real(-59)],
                    [uuid, .integer(100), .integer(0), .real(-70), .missing],
                ]
            )
            _ = daemon
        }
    }

    @Test("a thermometer's packet counts once, however often it is repeated")
    func thermometer() async throws {
        let mock = try await MockBlueZ.start()
        let daemon = try await mock.daemon()
        try await mock.script("mock.AddDevice('hci0', '11:22:33:44:55:66', 'sensor')")
        var configuration = BluetoothConfiguration()
        configuration.thermometers = ["11:22:33:44:55:66": try #require(Name("kitchen"))]
        try await following(mock, configuration) {
            try await until("it scans") { try await mock.calls("/org/bluez/hci0").contains("StartDiscovery") }
            try await mock.script(
                """
                d = '\(MockBlueZ.device)'
                u = '0000fcd2-0000-1000-8000-00805f9b34fb'
                for n in range(3): advertise(d, -50, {}, {u: '4002ca0903bf13'})
                advertise(d, -50, {}, {u: '4102ca0903bf13'})
                advertise(d, -50, {}, {u: '4002cb0903bf13'})
                """
            )
            try await until("the second value is there") { values("temperature.kitchen").count >= 2 }
            #expect(values("temperature.kitchen") == [[.real(25.06)], [.real(25.07)]])
            #expect(values("humidity.kitchen") == [[.real(50.55)], [.real(50.55)]])
            #expect(sink.contents.rejects.count == 1)
            _ = daemon
        }
    }

    @Test("without bluetoothd, with the adapter off, and after a restart, it says so and goes on by itself")
    func restarts() async throws {
        let mock = try await MockBlueZ.start()
        var configuration = BluetoothConfiguration()
        configuration.beacons = [.init()]
        try await following(mock, configuration) {
            @Sendable func isMissing(_ words: String) -> Bool {
                if case .missing(let text) = condition("beacon") { text.contains(words) } else { false }
            }
            try await until("it says that bluetoothd is missing") { isMissing("bluetoothd does not run") }
            for round in 0..<2 {
                let daemon = try await mock.daemon()
                try await until("it scans") { try await mock.calls("/org/bluez/hci0").contains("StartDiscovery") }
                try await mock.script(
                    """
                    mock.AddDevice('hci0', '11:22:33:44:55:66', 'beacon')
                    advertise('\(MockBlueZ.device)', -7\(round), {0x004c: '0215e2c56db5dffb48d2b060d0f5a71096e000640000c5'})
                    """
                )
                try await until("the beacon is seen") { values("beacon").last?[3] == .real(-70 - Double(round)) }
                try await mock.script(
                    "on('/org/bluez/hci0').UpdateProperties('org.bluez.Adapter1', {'Powered': False})"
                )
                try await until("it says that the adapter is off") { isMissing("adapter is off") }
                daemon.signal(9)
                try await until("it says that bluetoothd is gone") { isMissing("bluetoothd does not run") }
            }
        }
    }

    @Test("signals of others than bluetoothd are not listened to")
    func forged() async throws {
        let mock = try await MockBlueZ.start()
        let daemon = try await mock.daemon()
        var configuration = BluetoothConfiguration()
        configuration.beacons = [.init()]
        try await following(mock, configuration) {
            try await until("it scans") { try await mock.calls("/org/bluez/hci0").contains("StartDiscovery") }
            try await mock.script(
                """
                import dbus.lowlevel
                m = dbus.lowlevel.SignalMessage('\(MockBlueZ.device)', 'org.freedesktop.DBus.Properties', 'PropertiesChanged')
                p = {'RSSI': dbus.Int16(-1), 'ManufacturerData': dbus.Dictionary(
                    {dbus.UInt16(0x4c): data('0215e2c56db5dffb48d2b060d0f5a71096e000640000c5')}, signature='qv')}
                m.append('org.bluez.Device1', p, [], signature='sa{sv}as')
                con.send_message(m); con.flush()
                mock.AddDevice('hci0', '11:22:33:44:55:66', 'beacon')
                advertise('\(MockBlueZ.device)', -70, {0x004c: '0215e2c56db5dffb48d2b060d0f5a71096e000640000c5'})
                """
            )
            try await until("the real one is seen") { !values("beacon").isEmpty }
            #expect(values("beacon").map { $0[3] } == [.real(-70)])
            _ = daemon
        }
    }

    @Test("without a bus every stream is missing, and says why")
    func noBus() async {
        var configuration = BluetoothConfiguration()
        configuration.strap = .any
        let readings = await BluetoothSampler(configuration, bus: "unix:path=/nonexistent").readings()
        #expect(readings.map(\.stream.name.text) == ["heart_rate", "heart_rate.battery"])
        #expect(readings.allSatisfy { $0.condition.detail?.contains("system bus") == true })
    }
}
