internal import Diagnostics

/// One event for a browser's `EventSource`.
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's data; several lines are fine.
    public var data: String
    /// The event's type; nil means `message`.
    public var event: String?
    /// What a browser that comes back sends as `Last-Event-ID`.
    public var id: String?

    /// Makes an event.
    public init(data: String, event: String? = nil, id: String? = nil) {
        self.data = data
        self.event = event
        self.id = id
    }

    /// The event as it goes over the wire.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.utf8.count + 32)
        if let id { bytes += "id: \(Self.oneLine(id))\n".utf8 }
        if let event { bytes += "event: \(Self.oneLine(event))\n".utf8 }
        bytes += "data: ".utf8
        var last: UInt8 = 0
        for byte in data.utf8 {
            let isSecondHalf = last == .carriageReturn && byte == .lineFeed
            last = byte
            guard !isSecondHalf else { continue }
            if byte == .lineFeed || byte == .carriageReturn {
                bytes += "\ndata: ".utf8
            } else {
                bytes.append(byte)
            }
        }
        bytes += "\n\n".utf8
        return bytes
    }

    private static func oneLine(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 != .lineFeed && $0 != .carriageReturn && $0 != 0 }, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}

/// A stream of events to one client: `source` sends them for as long as the client stays.
///
/// The source runs in a task of its own from the moment the client's headers are sent, and is cancelled when the client
/// goes or the server stops; when it returns, the stream ends. It is never started for a `HEAD` request.
public struct ServerSentEvents: Sendable {
    let source: @Sendable (Sender) async -> Void
    let capacity: Int
    let heartbeat: Duration

    /// Makes a stream.
    ///
    /// - Parameters:
    ///   - capacity: how many events may wait for a slow client before `send` waits too.
    ///   - heartbeat: after this long without an event a comment goes out, which shows whether the client is there.
    public init(
        capacity: Int = 64,
        heartbeat: Duration = .seconds(15),
        source: @escaping @Sendable (Sender) async -> Void
    ) {
        self.source = source
        self.capacity = max(capacity, 1)
        self.heartbeat = heartbeat
    }

    /// Takes the events of one stream.
    public struct Sender: Sendable {
        let queue: EventQueue

        /// Sends an event; waits while the client is `capacity` events behind. Throws when the client is gone.
        public func send(_ event: ServerSentEvent) async throws(CancellationError) {
            try await queue.append(event.bytes)
        }

        /// Sends an event unless the client is `capacity` events behind; says whether it did.
        ///
        /// For sources that would rather lose an event than wait: what is refused is for the caller to count.
        public func offer(_ event: ServerSentEvent) -> Bool {
            queue.offer(event.bytes)
        }
    }
}

/// The bytes of events on their way from a source's task to the server's thread.
final class EventQueue: Sendable {
    private struct State {
        var chunks: [[UInt8]] = []
        /// How much of the first chunk is gone already.
        var offset = 0
        var isFinished = false
        var isClosed = false
        /// The reader found nothing and wants to be told.
        var readerWaits = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    /// What the reader got.
    enum Read: Equatable {
        case bytes(Int)
        case nothingYet
        case end
        case closed
    }

    private let state = Guarded(State())
    private let capacity: Int
    private let wakeReader: @Sendable () -> Void

    /// `wakeReader` is called from any thread, without a lock, when there is something for a reader that found nothing.
    init(capacity: Int, wakeReader: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.wakeReader = wakeReader
    }

    /// Adds a chunk if there is room.
    func offer(_ chunk: [UInt8]) -> Bool {
        let (taken, wake) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed, !state.isFinished, state.chunks.count < capacity else { return (false, false) }
            state.chunks.append(chunk)
            defer { state.readerWaits = false }
            return (true, state.readerWaits)
        }
        if wake { wakeReader() }
        return taken
    }

    /// Adds a chunk, waiting for room.
    func append(_ chunk: [UInt8]) async throws(CancellationError) {
        while !offer(chunk) {
            guard !Task.isCancelled, !state.withLock({ $0.isClosed || $0.isFinished }) else {
                throw CancellationError()
            }
            await room()
        }
    }

    private func room() async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    let cancelled = state.cancelled.remove(id) != nil
                    guard !cancelled, !state.isClosed, state.chunks.count >= capacity else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
                state.cancelled.insert(id)
                return nil
            }
            waiter?.resume()
        }
    }

    /// Says that nothing more comes.
    func finish() {
        let wake = state.withLock { state in
            state.isFinished = true
            defer { state.readerWaits = false }
            return state.readerWaits
        }
        if wake { wakeReader() }
    }

    /// Says that nobody reads any more; lets go of everybody who waits.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            state.chunks = []
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Moves bytes into `buffer`.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        let (result, waiters) = state.withLock { state -> (Read, [CheckedContinuation<Void, Never>]) in
            guard !state.isClosed else { return (.closed, []) }
            guard !state.chunks.isEmpty else {
                state.readerWaits = !state.isFinished
                return (state.isFinished ? .end : .nothingYet, [])
            }
            var filled = 0
            var used = 0
            while used < state.chunks.count, filled < buffer.count {
                let count = min(state.chunks[used].count - state.offset, buffer.count - filled)
                state.chunks[used].withUnsafeBytes { bytes in
                    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + count])
                    target.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[state.offset..<state.offset + count])
                    )
                }
                filled += count
                state.offset += count
                guard state.offset == state.chunks[used].count else { break }
                state.offset = 0
                used += 1
            }
            state.chunks.removeFirst(used)
            guard used > 0 else { return (.bytes(filled), []) }
            defer { state.waiters = [:] }
            return (.bytes(filled), Array(state.waiters.values))
        }
        for waiter in waiters { waiter.resume() }
        return result
    }
}
