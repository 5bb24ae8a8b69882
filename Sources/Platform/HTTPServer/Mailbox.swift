internal import CMicroHTTPD
internal import Diagnostics
internal import Glibc

/// What other threads tell the server's thread.
enum Message: Sendable {
    /// A handler has answered the request `exchange` of a connection.
    case answered(connection: UInt64, exchange: UInt64, HTTPResponse)
    /// There is something to read in the event queue of a connection.
    case events(connection: UInt64)
    case stop
}

/// Messages for one thread that polls, with a descriptor that becomes readable when there are some.
final class Mailbox: Sendable {
    let descriptor: Int32
    private let messages = Guarded<[Message]>([])

    init() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(descriptor >= 0, "no file descriptor is left for an eventfd")
    }

    deinit {
        close(descriptor)
    }

    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func take() -> [Message] {
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
