internal import CMicroHTTPD
internal import Diagnostics

/// One client's connection. It belongs to the server's thread.
final class Connection {
    let id: UInt64
    let handle: OpaquePointer
    let socket: Int32
    var exchange: Exchange?
    /// When the request that is arriving must be there; nil while none is.
    var deadline: BootInstant?
    /// Whether libmicrohttpd leaves the connection alone, on our demand.
    var isSuspended = false
    /// Whether the peer closed while we had it suspended.
    var isGone = false

    init(id: UInt64, handle: OpaquePointer, socket: Int32) {
        self.id = id
        self.handle = handle
        self.socket = socket
    }
}

/// One request and its answer. It belongs to the server's thread.
final class Exchange {
    enum State {
        /// The headers have not been looked at.
        case new
        /// The body arrives; then it is for the handler.
        case receiving(HTTPRequest, HTTPHandler)
        /// The answer is known; the body, `count` bytes so far, is thrown away as it comes.
        case discarding(count: Int, then: HTTPResponse)
        case running(Task<Void, Never>)
        case answered(HTTPResponse)
        /// The answer is with libmicrohttpd.
        case sending
    }

    let id: UInt64
    let target: String
    var state = State.new
    var isHead = false
    var events: EventFeed?

    init(id: UInt64, target: String) {
        self.id = id
        self.target = target
    }

    /// Lets go of everybody who works for this request.
    func abandon() {
        if case .running(let task) = state { task.cancel() }
        state = .sending
        events?.end()
        events = nil
    }
}

/// The event stream of a response: its queue, the task that fills it, and its heartbeat.
final class EventFeed {
    let queue: EventQueue
    private let heartbeat: Duration
    private var task: Task<Void, Never>?
    /// When the next comment is due.
    private(set) var nextBeat: BootInstant

    init(_ events: ServerSentEvents, now: BootInstant, wake: @escaping @Sendable () -> Void) {
        let queue = EventQueue(capacity: events.capacity, wakeReader: wake)
        self.queue = queue
        heartbeat = events.heartbeat
        nextBeat = now.advanced(by: events.heartbeat)
        let source = events.source
        task = Task {
            await source(ServerSentEvents.Sender(queue: queue))
            queue.finish()
        }
    }

    /// Something was sent.
    func postpone(now: BootInstant) {
        nextBeat = now.advanced(by: heartbeat)
    }

    /// Sends a comment if one is due.
    func beat(now: BootInstant) {
        guard nextBeat <= now else { return }
        postpone(now: now)
        // With events waiting, the client is slow, and libmicrohttpd's own time limit decides.
        _ = queue.offer(Array(":\n\n".utf8))
    }

    /// Ends the stream after what is in the queue.
    func finish() {
        task?.cancel()
        queue.finish()
    }

    /// Nobody reads any more.
    func end() {
        task?.cancel()
        queue.close()
    }
}
