import Foundation
import TestKit

/// A mocked bluetoothd on a bus of its own, by python-dbusmock: others wrote what it answers.
struct MockBlueZ {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let bus: PrivateBus
    static let device = "/org/bluez/hci0/dev_11_22_33_44_55_66"
    static let characteristic = device + "/service0010/char0011"

    static func start() async throws -> MockBlueZ {
        let mock = MockBlueZ(bus: try await PrivateBus.start())
        return mock
    }

    /// Starts the service itself, with an adapter.
    func daemon() async throws -> ChildProcess {
        let child = try ChildProcess(
            "/usr/bin/python3",
            ["-u", "-m", "dbusmock", "--system", "--template", "bluez5"],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        )
        try await until("the mock is on the bus") {
            (try? await self.script("con.get_object('org.bluez', '/')")) != nil
        }
        try await script("mock.AddAdapter('hci0', 'test')")
        return child
    }

    /// Runs a script with `con` (the bus), `mock` (the mock's own interface) and helpers, to its end.
    @discardableResult
    func script(_ text: String) async throws -> String {
        let child = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                """
                import dbus
                con = dbus.SystemBus()
                mock = dbus.Interface(con.get_object('org.bluez', '/'), 'org.bluez.Mock')
                M = 'org.freedesktop.DBus.Mock'
                def on(path): return dbus.Interface(con.get_object('org.bluez', path), M)
                def data(text): return dbus.Array([dbus.Byte(x) for x in bytes.fromhex(text)], signature='y', variant_level=1)
                def changed(path, interface, properties):
                    on(path).EmitSignal('org.freedesktop.DBus.Properties', 'PropertiesChanged', 'sa{sv}as',
                        [interface, dbus.Dictionary(properties, signature='sv'), dbus.Array([], signature='s')])
                def advertise(path, rssi, manufacturer={}, service={}):
                    p = {'RSSI': dbus.Int16(rssi, variant_level=1)}
                    if manufacturer: p['ManufacturerData'] = dbus.Dictionary(
                        {dbus.UInt16(k): data(v) for k, v in manufacturer.items()}, signature='qv', variant_level=1)
                    if service: p['ServiceData'] = dbus.Dictionary(
                        {k: data(v) for k, v in service.items()}, signature='sv', variant_level=1)
                    changed(path, 'org.bluez.Device1', p)
                \(text)
                """,
            ],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        )
        let code = try await child.ended()
        guard code == 0 else { throw Failure(description: child.talk) }
        return child.output
    }

    /// Adds a strap with its service; it is in range.
    func addStrap() async throws {
        let device = Self.device
        try await script(
            """
            mock.AddDevice('hci0', '11:22:33:44:55:66', 'Polar H10')
            on('\(device)').UpdateProperties('org.bluez.Device1',
                {'UUIDs': dbus.Array(['0000180d-0000-1000-8000-00805f9b34fb'], signature='s')})
            on('/').AddObject('\(device)/service0010', 'org.bluez.GattService1',
                {'UUID': '0000180d-0000-1000-8000-00805f9b34fb', 'Device': dbus.ObjectPath('\(device)'), 'Primary': True}, [])
            on('/').AddObject('\(Self.characteristic)', 'org.bluez.GattCharacteristic1',
                {'UUID': '00002a37-0000-1000-8000-00805f9b34fb', 'Service': dbus.ObjectPath('\(device)/service0010'),
                 'Value': dbus.Array([], signature='y'), 'Notifying': False, 'Flags': dbus.Array(['notify'], signature='s')},
                [('StartNotify', '', '', ''), ('StopNotify', '', '', '')])
            """
        )
    }

    /// What the mock was asked to do on an object since it was made: the names of the methods.
    func calls(_ path: String) async throws -> [String] {
        try await script("print(' '.join(str(c[1]) for c in on('\(path)').GetCalls()))").split(separator: " ")
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    }
}
