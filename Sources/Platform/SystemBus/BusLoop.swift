internal import CSystemd
internal import Diagnostics
internal import Glibc

/// The bus's thread: sd-bus's connection, its calls and matches, and the poll around them.
///
/// Thread rule: everything in here, sd-bus's callbacks included, runs on the one thread that `run` was called on.
final class BusLoop {
    private let bus: OpaquePointer
    private let mailbox: BusMailbox
    private var calls: [UInt: PendingCall] = [:]
    private var matches: [Int: Match] = [:]
    private var lastCall: UInt = 0
    private var isStopping = false

    private struct PendingCall {
        let slot: OpaquePointer
        let continuation: CheckedContinuation<Result<[BusValue], BusError>, Never>
    }

    /// What a match's callback gets.
    private final class Match {
        var slot: OpaquePointer?
        let subscription: BusSubscription
        var installed: CheckedContinuation<Result<Void, BusError>, Never>?

        init(_ subscription: BusSubscription, _ installed: CheckedContinuation<Result<Void, BusError>, Never>) {
            self.subscription = subscription
            self.installed = installed
        }
    }

    /// Takes a connection that has been started; it is closed at the end of `run`.
    init(_ bus: OpaquePointer, _ mailbox: BusMailbox) {
        self.bus = bus
        self.mailbox = mailbox
    }

    func run() {
        while !isStopping {
            for request in mailbox.take() { handle(request) }
            var isAlive = true
            while !isStopping {
                let code = sd_bus_process(bus, nil)
                if code < 0 { isAlive = false }
                if code <= 0 { break }
            }
            guard isAlive, !isStopping else { break }
            wait()
        }
        end()
    }

    private func wait() {
        var descriptors = [
            pollfd(fd: sd_bus_get_fd(bus), events: Int16(clamping: sd_bus_get_events(bus)), revents: 0),
            pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        var due: UInt64 = .max
        var milliseconds: Int32 = -1
        // The time of CLOCK_MONOTONIC in microseconds at which a call runs out of time.
        if sd_bus_get_timeout(bus, &due) >= 0, due != .max {
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            let current = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
            milliseconds = due <= current ? 0 : Int32(clamping: (due - current) / 1000 + 1)
        }
        poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    }

    private func handle(_ request: BusRequest) {
        switch request {
        case .call(let call, let continuation): begin(call, continuation)
        case .subscribe(let id, let match, let subscription, let continuation):
            subscribe(id, match, Match(subscription, continuation))
        case .unsubscribe(let id):
            if let match = matches.removeValue(forKey: id) { sd_bus_slot_unref(match.slot) }
        case .stop: isStopping = true
        }
    }

    // MARK: Calls

    private final class CallContext {
        unowned let loop: BusLoop
        let id: UInt

        init(_ loop: BusLoop, _ id: UInt) {
            self.loop = loop
            self.id = id
        }
    }

    private func begin(_ call: BusCall, _ continuation: CheckedContinuation<Result<[BusValue], BusError>, Never>) {
        var message: OpaquePointer?
        let code = sd_bus_message_new_method_call(
            bus,
            &message,
            call.destination,
            call.path,
            call.interface,
            call.member
        )
        guard code >= 0, let message else {
            continuation.resume(returning: .failure(.invalidCall(systemText(-code))))
            return
        }
        defer { sd_bus_message_unref(message) }
        do throws(BusError) {
            for argument in call.arguments { try BusWriter.append(argument, to: message) }
        } catch {
            continuation.resume(returning: .failure(error))
            return
        }
        lastCall += 1
        let id = lastCall
        let context = Unmanaged.passRetained(CallContext(self, id))
        var slot: OpaquePointer?
        let microseconds = UInt64(clamping: call.timeout.nanoseconds / 1000)
        let sent = sd_bus_call_async(
            bus,
            &slot,
            message,
            { answer, context, _ in
                guard let answer, let context else { return 0 }
                let call = Unmanaged<CallContext>.fromOpaque(context).takeUnretainedValue()
                call.loop.answered(call.id, answer)
                return 0
            },
            context.toOpaque(),
            microseconds
        )
        guard sent >= 0, let slot else {
            context.release()
            continuation.resume(returning: .failure(.invalidCall(systemText(-sent))))
            return
        }
        sd_bus_slot_set_destroy_callback(slot) { context in
            if let context { Unmanaged<CallContext>.fromOpaque(context).release() }
        }
        calls[id] = PendingCall(slot: slot, continuation: continuation)
    }

    private func answered(_ id: UInt, _ answer: OpaquePointer) {
        guard let call = calls.removeValue(forKey: id) else { return }
        if let error = Self.error(of: answer) {
            call.continuation.resume(returning: .failure(error))
        } else {
            call.continuation.resume(returning: .success(BusReader.arguments(of: answer)))
        }
        // Frees the context, too, once this callback has returned: sd-bus holds the slot while it calls.
        sd_bus_slot_unref(call.slot)
    }

    private static func error(of message: OpaquePointer) -> BusError? {
        guard sd_bus_message_is_method_error(message, nil) > 0 else { return nil }
        let error = sd_bus_message_get_error(message)?.pointee
        return .refused(
            name: error?.name.map { String(cString: $0) } ?? "unknown",
            message: error?.message.map { String(cString: $0) } ?? "the service gave no reason"
        )
    }

    // MARK: Signals

    private func subscribe(_ id: Int, _ wanted: BusMatch, _ match: Match) {
        matches[id] = match
        let code = sd_bus_add_match_async(
            bus,
            &match.slot,
            wanted.rule,
            { message, context, _ in
                guard let message, let context else { return 0 }
                let match = Unmanaged<Match>.fromOpaque(context).takeUnretainedValue()
                BusLoop.deliver(message, to: match.subscription)
                return 0
            },
            { answer, context, _ in
                guard let answer, let context else { return 0 }
                let match = Unmanaged<Match>.fromOpaque(context).takeUnretainedValue()
                let error = BusLoop.error(of: answer)
                match.installed?.resume(returning: error.map { .failure($0) } ?? .success(()))
                match.installed = nil
                // Not an error of the connection: the caller is told.
                return 1
            },
            // Unretained: the slot is dropped before the match.
            Unmanaged.passUnretained(match).toOpaque()
        )
        guard code < 0 else { return }
        matches[id] = nil
        match.installed?.resume(returning: .failure(.invalidCall(systemText(-code))))
        match.installed = nil
    }

    private static func deliver(_ message: OpaquePointer, to subscription: BusSubscription) {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        let signal = BusSignal(
            sender: text(sd_bus_message_get_sender(message)),
            path: text(sd_bus_message_get_path(message)),
            interface: text(sd_bus_message_get_interface(message)),
            member: text(sd_bus_message_get_member(message)),
            arguments: BusReader.arguments(of: message)
        )
        if case .dropped = subscription.continuation.yield(signal) { subscription.dropped.add() }
    }

    // MARK: The end

    private func end() {
        for request in mailbox.shut() {
            switch request {
            case .call(_, let continuation): continuation.resume(returning: .failure(.closed))
            case .subscribe(_, _, _, let continuation): continuation.resume(returning: .failure(.closed))
            case .unsubscribe, .stop: break
            }
        }
        for call in calls.values {
            sd_bus_slot_unref(call.slot)
            call.continuation.resume(returning: .failure(.closed))
        }
        calls = [:]
        for match in matches.values {
            sd_bus_slot_unref(match.slot)
            match.installed?.resume(returning: .failure(.closed))
            match.subscription.continuation.finish()
        }
        matches = [:]
        sd_bus_flush_close_unref(bus)
    }
}
