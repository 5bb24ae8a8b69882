internal import CSystemd
internal import Diagnostics
internal import Glibc

/// A connection to the system bus, or to another one, through systemd's sd-bus.
///
/// sd-bus connections belong to one thread: this one has its own. Calls and signals may be used from anywhere.
public final class BusConnection: Sendable {
    private let mailbox: BusMailbox
    private let lastSubscription = Guarded(0)

    private init(_ mailbox: BusMailbox) {
        self.mailbox = mailbox
    }

    deinit { close() }

    /// Connects.
    ///
    /// - Parameter address: a D-Bus address such as `unix:path=/run/dbus/system_bus_socket`; nil: the system bus
    ///   (`DBUS_SYSTEM_BUS_ADDRESS`, if it is set).
    public static func connect(_ address: String? = nil) async throws(BusError) -> BusConnection {
        let mailbox = BusMailbox()
        let outcome: Result<Void, BusError> = await withCheckedContinuation { continuation in
            OwnThread.start(name: "system-bus") {
                switch open(address) {
                case .success(let bus):
                    continuation.resume(returning: .success(()))
                    BusLoop(bus, mailbox).run()
                case .failure(let error): continuation.resume(returning: .failure(error))
                }
            }
        }
        try outcome.get()
        return BusConnection(mailbox)
    }

    private static func open(_ address: String?) -> Result<OpaquePointer, BusError> {
        var bus: OpaquePointer?
        var code: Int32 = 0
        if let address {
            code = sd_bus_new(&bus)
            if code >= 0 { code = sd_bus_set_address(bus, address) }
            if code >= 0 { code = sd_bus_set_bus_client(bus, 1) }
            if code >= 0 { code = sd_bus_start(bus) }
        } else {
            code = sd_bus_open_system(&bus)
        }
        guard code >= 0, let bus else {
            sd_bus_unref(bus)
            return .failure(.notConnected(systemText(-code)))
        }
        return .success(bus)
    }

    /// Calls a method and gives its results.
    ///
    /// A task that is cancelled meanwhile goes on waiting, at most for `timeout`.
    @discardableResult
    public func call(
        _ destination: String,
        _ path: String,
        _ interface: String,
        _ member: String,
        _ arguments: [BusValue] = [],
        timeout: Duration = .seconds(25)
    ) async throws(BusError) -> [BusValue] {
        let call = BusCall(
            destination: destination,
            path: path,
            interface: interface,
            member: member,
            arguments: arguments,
            timeout: timeout
        )
        let outcome: Result<[BusValue], BusError> = await withCheckedContinuation { continuation in
            if !mailbox.post(.call(call, continuation)) { continuation.resume(returning: .failure(.closed)) }
        }
        return try outcome.get()
    }

    /// Subscribes to signals; those that are sent after this has returned come.
    ///
    /// The subscription ends with its sequence, and with the connection.
    ///
    /// - Parameter buffer: so many signals may wait; the newest are dropped and counted when it is full.
    public func signals(_ match: BusMatch, buffer: Int = 256) async throws(BusError) -> BusSignals {
        let (stream, continuation) = AsyncStream.makeStream(
            of: BusSignal.self,
            bufferingPolicy: .bufferingOldest(buffer)
        )
        let dropped = DropCounter()
        let id = lastSubscription.withLock { last in
            last += 1
            return last
        }
        let subscription = BusSubscription(continuation: continuation, dropped: dropped)
        continuation.onTermination = { [mailbox] _ in _ = mailbox.post(.unsubscribe(id)) }
        let outcome: Result<Void, BusError> = await withCheckedContinuation { installed in
            if !mailbox.post(.subscribe(id, match, subscription, installed)) {
                installed.resume(returning: .failure(.closed))
            }
        }
        try outcome.get()
        return BusSignals(stream: stream, droppedCounter: dropped)
    }

    /// The value of a property.
    public func property(
        _ destination: String,
        _ path: String,
        _ interface: String,
        _ name: String
    ) async throws(BusError) -> BusValue {
        let answer = try await call(
            destination,
            path,
            "org.freedesktop.DBus.Properties",
            "Get",
            [.string(interface), .string(name)]
        )
        guard let value = answer.first else { throw .refused(name: "empty", message: "\(name) has no value") }
        return value.plain
    }

    /// Ends the connection: calls that wait throw, signals end.
    public func close() {
        _ = mailbox.post(.stop)
    }
}
