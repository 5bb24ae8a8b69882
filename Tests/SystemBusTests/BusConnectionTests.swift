import Diagnostics
import Foundation
import SystemBus
import TestKit
import Testing

@Suite("The system bus", .timeLimit(.minutes(5)))
struct BusConnectionTests {
    private let bus: PrivateBus
    private static let dbus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")

    init() async throws {
        bus = try await PrivateBus.start()
    }

    private func ask(_ connection: BusConnection, _ member: String, _ arguments: BusValue...) async throws -> [BusValue]
    {
        try await connection.call(Self.dbus.0, Self.dbus.1, Self.dbus.0, member, arguments)
    }

    @Test("a call's results come back, and an error with its name and sentence")
    func calls() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let names = try #require(try await ask(connection, "ListNames").first?.elements)
        #expect(names.compactMap(\.string).contains(Self.dbus.0))
        let error = await #expect(throws: BusError.self) {
            try await ask(connection, "GetNameOwner", .string("org.example.None"))
        }
        #expect(error?.name == "org.freedesktop.DBus.Error.NameHasNoOwner")
        #expect("\(try #require(error))".contains("org.example.None"))
    }

    @Test("every type goes out and comes back as it was")
    func types() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let echo = try await bus.echo()
        let values: [BusValue] = [
            .byte(255), .bool(true), .int16(-5), .uint16(65_535), .int32(-70_000), .uint32(4_000_000_000),
            .int64(.min), .uint64(.max), .double(-0.1), .string("é ✓"), .objectPath("/a/b"), .signature("a{sv}"),
            .bytes([0, 1, 255]), .bytes([]), .array([.string("a"), .string("")], element: "s"),
            .array([], element: "i"), .structure([.int32(1), .string("x")]),
            .dictionary([.uint16(76): .variant(.bytes([2, 21]))], key: "q", value: "v"),
            .properties(["a": .variant(.bool(false)), "b": .array([.double(1)], element: "d")]),
            .array([.dictionary([.string("k"): .int32(3)], key: "s", value: "i")], element: "a{si}"),
        ]
        for value in values {
            let answer = try await connection.call(echo, "/", "org.example.Echo", "Echo", [.variant(value)])
            #expect(answer == [.variant(value)], "\(value)")
        }
    }

    @Test("signals of the match come in their order, from the moment the subscription is made")
    func signals() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let signals = try await connection.signals(
            BusMatch(
                sender: Self.dbus.0,
                interface: Self.dbus.0,
                member: "NameOwnerChanged",
                argument0: "org.example.A"
            )
        )
        let other = try await BusConnection.connect(bus.address)
        for name in ["org.example.A", "org.example.B"] {
            _ = try await ask(other, "RequestName", .string(name), .uint32(0))
        }
        _ = try await ask(other, "ReleaseName", .string("org.example.A"))
        var owners: [Bool] = []
        for await signal in signals {
            #expect(signal.arguments.first?.string == "org.example.A")
            owners.append(signal.arguments.last?.string != "")
            if owners.count == 2 { break }
        }
        #expect(owners == [true, false])
        #expect(signals.dropped == 0)
    }

    @Test("a full buffer drops the newest signals and counts them")
    func drops() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let signals = try await connection.signals(BusMatch(member: "NameOwnerChanged"), buffer: 2)
        let other = try await BusConnection.connect(bus.address)
        for number in 0..<10 { _ = try await ask(other, "RequestName", .string("org.example.N\(number)"), .uint32(0)) }
        try await until("signals were dropped") { signals.dropped >= 8 }
    }

    @Test("a call that is not answered ends at its time limit")
    func timeout() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let echo = try await bus.echo()
        let error = await #expect(throws: BusError.self) {
            try await connection.call(echo, "/", "org.example.Echo", "Never", timeout: .milliseconds(100))
        }
        #expect(error?.name?.contains("Timeout") == true || error?.name?.contains("NoReply") == true, "\(error as Any)")
    }

    @Test("when the bus goes, calls that wait throw, signals end, and later calls say that it is over")
    func gone() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let echo = try await bus.echo()
        let signals = try await connection.signals(BusMatch(member: "NameOwnerChanged"))
        let waiting = Task { try await connection.call(echo, "/", "org.example.Echo", "Never") }
        async let counted = signals.reduce(0) { count, _ in count + 1 }
        // The second call is answered, so the first is under way.
        _ = try await connection.call(echo, "/", "org.example.Echo", "Echo", [.variant(.bool(true))])
        bus.stop()
        await #expect(throws: BusError.self) { try await waiting.value }
        _ = await counted
        await #expect(throws: BusError.closed) { try await ask(connection, "ListNames") }
    }

    @Test("closing ends what waits")
    func closes() async throws {
        let connection = try await BusConnection.connect(bus.address)
        let echo = try await bus.echo()
        let waiting = Task { try await connection.call(echo, "/", "org.example.Echo", "Never") }
        _ = try await connection.call(echo, "/", "org.example.Echo", "Echo", [.variant(.bool(true))])
        connection.close()
        await #expect(throws: BusError.closed) { try await waiting.value }
    }

    @Test("values and names that D-Bus does not allow are refused, and the connection stays")
    func invalid() async throws {
        let connection = try await BusConnection.connect(bus.address)
        await #expect(throws: BusError.self) { try await connection.call("no name", "/", "a.b", "C") }
        await #expect(throws: BusError.self) {
            try await connection.call("org.a", "/", "a.b", "C", [.array([.string("x")], element: "i")])
        }
        await #expect(throws: BusError.self) { try await connection.call("org.a", "/", "a.b", "C", [.objectPath("x")]) }
        #expect(try await ask(connection, "ListNames").count == 1)
    }

    @Test("without a bus the error says so")
    func noBus() async {
        let error = await #expect(throws: BusError.self) {
            try await BusConnection.connect("unix:path=/nonexistent/bus")
        }
        #expect("\(error as Any)".contains("cannot connect to the system bus"))
    }
}
