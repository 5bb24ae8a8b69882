internal import CSystemd
internal import Diagnostics
internal import Glibc

/// What the bus's thread is asked to do.
enum BusRequest: Sendable {
    case call(BusCall, CheckedContinuation<Result<[BusValue], BusError>, Never>)
    case subscribe(Int, BusMatch, BusSubscription, CheckedContinuation<Result<Void, BusError>, Never>)
    case unsubscribe(Int)
    case stop
}

/// A method call.
struct BusCall: Sendable {
    var destination: String
    var path: String
    var interface: String
    var member: String
    var arguments: [BusValue]
    var timeout: Duration
}

/// Where the signals of a match go.
struct BusSubscription: Sendable {
    let continuation: AsyncStream<BusSignal>.Continuation
    let dropped: DropCounter
}

/// Requests for one thread that polls, with a descriptor that becomes readable when there are some.
final class BusMailbox: Sendable {
    private struct Contents {
        var requests: [BusRequest] = []
        var isClosed = false
    }

    let descriptor: Int32
    private let contents = Guarded(Contents())

    init() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(descriptor >= 0, "no file descriptor is left for an eventfd")
    }

    deinit { close(descriptor) }

    /// False when the thread takes no requests any more.
    func post(_ request: BusRequest) -> Bool {
        let (isTaken, isFirst) = contents.withLock { contents -> (Bool, Bool) in
            guard !contents.isClosed else { return (false, false) }
            contents.requests.append(request)
            return (true, contents.requests.count == 1)
        }
        if isFirst {
            var one: UInt64 = 1
            write(descriptor, &one, MemoryLayout<UInt64>.size)
        }
        return isTaken
    }

    func take() -> [BusRequest] {
        var count: UInt64 = 0
        read(descriptor, &count, MemoryLayout<UInt64>.size)
        return contents.withLock { contents in
            defer { contents.requests = [] }
            return contents.requests
        }
    }

    /// Takes no more; gives what is left.
    func shut() -> [BusRequest] {
        contents.withLock { contents in
            contents.isClosed = true
            defer { contents.requests = [] }
            return contents.requests
        }
    }
}
