internal import CMicroHTTPD

// libmicrohttpd's callbacks. All come from inside `MHD_run` or `MHD_stop_daemon`, so on the loop's thread; the context
// is the loop, which outlives the daemon. The one exception is the log while the daemon starts: same thread, same loop.

private func loop(_ context: UnsafeMutableRawPointer?) -> ServerLoop? {
    context.map { Unmanaged<ServerLoop>.fromOpaque($0).takeUnretainedValue() }
}

/// The connection that `connectionChanged` has attached to libmicrohttpd's.
private func connection(of handle: OpaquePointer?) -> Connection? {
    guard let info = feedbridge_mhd_connection_info(handle, .CONNECTION_INFO_SOCKET_CONTEXT),
        let context = info.pointee.socket_context
    else { return nil }
    return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
}

func connectionChanged(
    _ context: UnsafeMutableRawPointer?,
    _ handle: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ code: MHD_ConnectionNotificationCode
) {
    guard let loop = loop(context), let handle, let slot else { return }
    if code == .CONNECTION_NOTIFY_STARTED {
        slot.pointee = Unmanaged.passRetained(loop.opened(handle)).toOpaque()
    } else if let old = slot.pointee {
        slot.pointee = nil
        loop.closed(Unmanaged<Connection>.fromOpaque(old).takeRetainedValue())
    }
}

func beginRequest(
    _ context: UnsafeMutableRawPointer?,
    _ target: UnsafePointer<CChar>?,
    _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let loop = loop(context), let connection = connection(of: handle), let target else { return nil }
    loop.begin(String(cString: target), on: connection)
    return nil
}

func handleRequest(
    _ context: UnsafeMutableRawPointer?,
    _ handle: OpaquePointer?,
    _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let loop = loop(context), let connection = connection(of: handle), let method, let uploadSize else {
        return .NO
    }
    let chunk = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    uploadSize.pointee = 0
    let version = version.map { String(cString: $0) } ?? ""
    return loop.proceed(connection, method: String(cString: method), version: version, chunk) ? .YES : .NO
}

func requestCompleted(
    _ context: UnsafeMutableRawPointer?,
    _ handle: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ code: MHD_RequestTerminationCode
) {
    guard let loop = loop(context), let connection = connection(of: handle) else { return }
    loop.completed(connection)
}

func logLine(_ context: UnsafeMutableRawPointer?, _ line: UnsafePointer<CChar>?) {
    guard let loop = loop(context), let line else { return }
    loop.heard(String(cString: line))
}

/// Where the bytes of an event stream come from: given to libmicrohttpd's response.
final class EventReader {
    private let loop: ServerLoop
    private let connection: Connection
    private let feed: EventFeed

    init(loop: ServerLoop, connection: Connection, feed: EventFeed) {
        self.loop = loop
        self.connection = connection
        self.feed = feed
    }

    /// A response that reads from here and owns it.
    func makeResponse() -> OpaquePointer? {
        // `MHD_SIZE_UNKNOWN`, a macro with a cast.
        MHD_create_response_from_callback(
            .max,
            4096,
            { context, _, buffer, size in
                guard let context, let buffer else { return -2 }
                let reader = Unmanaged<EventReader>.fromOpaque(context).takeUnretainedValue()
                return reader.read(UnsafeMutableRawBufferPointer(start: buffer, count: size))
            },
            Unmanaged.passRetained(self).toOpaque(),
            { context in
                if let context { Unmanaged<EventReader>.fromOpaque(context).release() }
            }
        )
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        // `MHD_CONTENT_READER_END_OF_STREAM` and `MHD_CONTENT_READER_END_WITH_ERROR`, macros with casts.
        let (end, failure) = (-1, -2)
        guard !connection.isGone else { return failure }
        switch feed.queue.read(into: buffer) {
        case .bytes(let count):
            feed.postpone(now: loop.now())
            return count
        case .end: return end
        case .closed: return failure
        case .nothingYet:
            loop.suspend(connection)
            return 0
        }
    }
}
