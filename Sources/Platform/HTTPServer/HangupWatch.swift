internal import CMicroHTTPD
internal import Glibc

/// Tells which of the watched sockets were closed by their peers.
///
/// libmicrohttpd's manual: "While a connection is suspended, MHD will not detect disconnects by the client."
struct HangupWatch: ~Copyable {
    let descriptor: Int32

    init() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(descriptor >= 0, "no file descriptor is left for an epoll instance")
    }

    deinit {
        close(descriptor)
    }

    func add(_ socket: Int32, id: UInt64) {
        var event = epoll_event()
        event.events = EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue
        event.data.u64 = id
        epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event)
    }

    func remove(_ socket: Int32) {
        var event = epoll_event()
        epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
    }

    /// The ids of those that hung up since the last call.
    func take() -> [UInt64] {
        var events = [epoll_event](repeating: epoll_event(), count: 32)
        let count = epoll_wait(descriptor, &events, 32, 0)
        return events.prefix(Int(max(count, 0))).map(\.data.u64)
    }
}
