internal import CEpoll
internal import Diagnostics
internal import Glibc
internal import Synchronization

/// What the loop calls when a descriptor is ready; loop thread only.
protocol LoopChannel: AnyObject {
    /// The descriptor can be read, written, or has failed.
    func ready(_ events: UInt32)
    /// Writes what was gathered in this round.
    func flush()
    /// The loop ends.
    func abandon()
}

/// The loop's inside, which its thread keeps alive.
///
/// Sendable: `jobs` is behind a lock, `thread` is atomic; `channels`, `gathered` and `nextToken` are touched on the
/// loop's thread only, which `add`, `remove`, `change` and `gather` check.
final class LoopCore: @unchecked Sendable {
    private struct Jobs {
        var waiting: [@Sendable () -> Void] = []
        var isAwake = false
        var isEnding = false
    }

    private let poll: Int32
    private let wake: Int32
    private let jobs = Guarded(Jobs())
    private let thread = Atomic<UInt>(0)
    private var channels: [UInt64: any LoopChannel] = [:]
    private var gathered: [any LoopChannel] = []
    private var nextToken: UInt64 = 1

    init() throws(SocketError) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { throw SocketError(action: .poll, address: "", code: errno) }
        wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wake >= 0 else {
            let code = errno
            close(poll)
            throw SocketError(action: .poll, address: "", code: code)
        }
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: 0))
        epoll_ctl(poll, EPOLL_CTL_ADD, wake, &event)
    }

    deinit {
        close(wake)
        close(poll)
    }

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func checkIsolated() {
        precondition(isCurrent, "called from outside the loop's thread")
    }

    func execute(_ body: @escaping @Sendable () -> Void) {
        let mustWake = jobs.withLock { jobs in
            jobs.waiting.append(body)
            defer { jobs.isAwake = true }
            return !jobs.isAwake
        }
        if mustWake { ring() }
    }

    func end() {
        jobs.withLock { $0.isEnding = true }
        ring()
    }

    func add(_ descriptor: Int32, _ channel: any LoopChannel, events: UInt32) -> UInt64 {
        checkIsolated()
        let token = nextToken
        nextToken += 1
        channels[token] = channel
        control(EPOLL_CTL_ADD, descriptor, token, events)
        return token
    }

    func change(_ descriptor: Int32, _ token: UInt64, events: UInt32) {
        checkIsolated()
        control(EPOLL_CTL_MOD, descriptor, token, events)
    }

    func remove(_ descriptor: Int32, _ token: UInt64) {
        checkIsolated()
        channels[token] = nil
        control(EPOLL_CTL_DEL, descriptor, token, 0)
    }

    /// Has `flush` called once before the loop waits again.
    func gather(_ channel: any LoopChannel) {
        checkIsolated()
        gathered.append(channel)
    }

    func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let count = epoll_wait(poll, &events, Int32(events.count), -1)
            if count < 0, errno != EINTR { break }
            for event in events.prefix(max(Int(count), 0)) {
                if event.data.u64 == 0 {
                    quieten()
                } else {
                    channels[event.data.u64]?.ready(event.events)
                }
            }
            let isEnding = runJobs()
            flushGathered()
            if isEnding { break }
        }
        for channel in channels.values { channel.abandon() }
        channels = [:]
    }

    private func runJobs() -> Bool {
        let (batch, isEnding) = jobs.withLock { jobs in
            defer {
                jobs.waiting = []
                jobs.isAwake = false
            }
            return (jobs.waiting, jobs.isEnding)
        }
        for job in batch { job() }
        return isEnding
    }

    private func flushGathered() {
        while !gathered.isEmpty {
            let round = gathered
            gathered.removeAll(keepingCapacity: true)
            for channel in round { channel.flush() }
        }
    }

    private func ring() {
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
    }

    private func quieten() {
        var number: UInt64 = 0
        _ = read(wake, &number, 8)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: token))
        epoll_ctl(poll, operation, descriptor, &event)
    }
}
