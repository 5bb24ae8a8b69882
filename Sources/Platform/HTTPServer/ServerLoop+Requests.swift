internal import CMicroHTTPD
internal import Diagnostics
internal import Glibc

// What libmicrohttpd's callbacks mean.
extension ServerLoop {
    func opened(_ handle: OpaquePointer) -> Connection {
        let info = feedbridge_mhd_connection_info(handle, .CONNECTION_INFO_CONNECTION_FD)
        let connection = Connection(id: newID(), handle: handle, socket: info?.pointee.connect_fd ?? -1)
        connections[connection.id] = connection
        expectRequest(on: connection, within: rules.limits.requestTime)
        // A client that vanished without a word is found out by the next heartbeat or answer, not a quarter of an hour
        // later.
        var milliseconds = UInt32(clamping: rules.limits.inactivity.components.seconds * 1000)
        setsockopt(
            connection.socket,
            Int32(IPPROTO_TCP),
            TCP_USER_TIMEOUT,
            &milliseconds,
            socklen_t(MemoryLayout<UInt32>.size)
        )
        return connection
    }

    func closed(_ connection: Connection) {
        connection.exchange?.abandon()
        connections[connection.id] = nil
    }

    func begin(_ target: String, on connection: Connection) {
        connection.exchange = Exchange(id: newID(), target: target)
        expectRequest(on: connection, within: rules.limits.requestTime)
    }

    func completed(_ connection: Connection) {
        connection.exchange?.abandon()
        connection.exchange = nil
        // The next request may begin whenever it likes within the time of inactivity, but then must not trickle in.
        expectRequest(on: connection, within: rules.limits.inactivity + rules.limits.requestTime)
    }

    func heard(_ line: String) {
        rules.log.debug("http: \(line)")
    }

    private func expectRequest(on connection: Connection, within limit: Duration) {
        let deadline = now().advanced(by: limit)
        connection.deadline = deadline
        wake(at: deadline)
    }

    /// Goes on with a request: once for its headers, then for each piece of its body, then when it is whole or answered.
    ///
    /// False closes the connection.
    func proceed(_ connection: Connection, method: String, version: String, _ chunk: UnsafeRawBufferPointer) -> Bool {
        guard !connection.isGone, let exchange = connection.exchange else { return false }
        switch exchange.state {
        case .new:
            return examine(exchange, on: connection, HTTPMethod(rawValue: method), version)
        case .receiving(var request, let handler):
            guard !chunk.isEmpty else {
                // A connection that were suspended now would be so when the daemon stops, which ends the process.
                guard !isStopping else { return answer(exchange, on: connection, stopping) }
                start(handler, request, exchange, on: connection)
                return true
            }
            guard request.body.count + chunk.count <= rules.limits.bodyBytes else {
                exchange.state = .discarding(count: request.body.count + chunk.count, then: tooLarge)
                return true
            }
            // Out of the state first, so that the body is extended in place.
            exchange.state = .new
            request.body.append(contentsOf: chunk)
            exchange.state = .receiving(request, handler)
            return true
        case .discarding(let count, let response):
            guard !chunk.isEmpty else { return answer(exchange, on: connection, response) }
            // libmicrohttpd takes an answer before the body or after it, not amid it. An endless body is cut.
            exchange.state = .discarding(count: count + chunk.count, then: response)
            return count < 2 * rules.limits.bodyBytes
        case .running:
            return true
        case .answered(let response):
            return answer(exchange, on: connection, response)
        case .sending:
            return true
        }
    }

    private var tooLarge: HTTPResponse {
        .text("The body is larger than the \(rules.limits.bodyBytes) bytes allowed.\n", status: 413)
    }

    /// What is answered once the server stops.
    var stopping: HTTPResponse { .text("The server is stopping.\n", status: 503) }

    private func examine(
        _ exchange: Exchange,
        on connection: Connection,
        _ method: HTTPMethod,
        _ version: String
    ) -> Bool {
        exchange.isHead = method == .head
        let headers = requestHeaders(connection.handle)
        if let length = headers["Content-Length"], Int(length).map({ $0 > rules.limits.bodyBytes }) ?? true {
            return answer(exchange, on: connection, tooLarge)
        }
        let hosts = headers.values(of: "Host")
        guard hosts.count <= 1, version != "HTTP/1.1" || hosts.count == 1 else {
            return refuse(exchange, .text("One Host header is needed.\n", status: 400))
        }
        let origin = headers["Origin"]
        if let refusal = rules.access.refusal(host: hosts.first, origin: origin, secure: rules.tls != nil) {
            return refuse(exchange, refusal)
        }
        guard let target = RequestTarget(exchange.target) else {
            return refuse(exchange, .text("The path or its escapes are wrong.\n", status: 400))
        }
        var request = HTTPRequest(
            method: method,
            path: target.path,
            query: target.query,
            headers: headers,
            remoteAddress: peer(connection.handle)
        )
        switch rules.router.match(method, target.segments) {
        case .found(let route, let parameters):
            request.parameters = parameters
            if let refusal = route.admit?(request) { return refuse(exchange, refusal) }
            exchange.state = .receiving(request, route.handler)
        case .wrongMethod(let allowed):
            let allow = allowed.map(\.rawValue).joined(separator: ", ")
            guard method == .options else {
                return refuse(exchange, .text("That cannot be done here.\n", status: 405).adding("Allow", allow))
            }
            let options = rules.options ?? { _ in .empty(204) }
            exchange.state = .receiving(request) { try await options($0).adding("Allow", allow) }
        case .nothing:
            guard let handler = (method == .options ? rules.options : nil) ?? rules.fallback else {
                return refuse(exchange, .text("There is nothing here.\n", status: 404))
            }
            exchange.state = .receiving(request, handler)
        }
        return true
    }

    /// Answers once the body has arrived: an earlier answer would cost the connection.
    private func refuse(_ exchange: Exchange, _ response: HTTPResponse) -> Bool {
        exchange.state = .discarding(count: 0, then: response)
        return true
    }

    /// Hands the whole request to its handler and lets the connection rest until that has answered.
    private func start(
        _ handler: @escaping HTTPHandler,
        _ request: HTTPRequest,
        _ exchange: Exchange,
        on connection: Connection
    ) {
        connection.deadline = nil
        let (connectionID, exchangeID, mailbox, log) = (connection.id, exchange.id, mailbox, rules.log)
        exchange.state = .running(
            Task {
                let response: HTTPResponse
                do {
                    response = try await handler(request)
                } catch {
                    if !(error is CancellationError && Task.isCancelled) {
                        log.warning("http: \(request.method) \(request.path) failed: \(error)")
                    }
                    response = .text("Something went wrong here; the log says what.\n", status: 500)
                }
                mailbox.post(.answered(connection: connectionID, exchange: exchangeID, response))
            }
        )
        suspend(connection)
    }

    private func answer(_ exchange: Exchange, on connection: Connection, _ response: HTTPResponse) -> Bool {
        exchange.state = .sending
        connection.deadline = nil
        let (status, answer) = makeAnswer(response, exchange, on: connection)
        guard let answer else { return false }
        defer { MHD_destroy_response(answer) }
        if isStopping { MHD_add_response_header(answer, "Connection", "close") }
        return MHD_queue_response(connection.handle, UInt32(clamping: status), answer) == .YES
    }

    private func makeAnswer(
        _ response: HTTPResponse,
        _ exchange: Exchange,
        on connection: Connection
    ) -> (status: Int, OpaquePointer?) {
        var response = response
        if case .file(let path) = response.body {
            let answer = fileAnswer(path)
            guard answer == nil else { return (response.status, withHeaders(response, answer)) }
            response = .text("There is nothing here.\n", status: 404)
        }
        switch response.body {
        case .events(let events):
            guard !exchange.isHead else { return (response.status, withHeaders(response, emptyAnswer())) }
            let (id, mailbox) = (connection.id, mailbox)
            let feed = EventFeed(events, now: now()) { mailbox.post(.events(connection: id)) }
            exchange.events = feed
            wake(at: feed.nextBeat)
            let reader = EventReader(loop: self, connection: connection, feed: feed)
            return (response.status, withHeaders(response, reader.makeResponse()))
        case .bytes(let bytes):
            return (response.status, withHeaders(response, bytesAnswer(bytes)))
        case .hangUp, .file:
            return (response.status, nil)
        }
    }
}

extension HTTPResponse {
    /// The response with one more header, unless it has that header.
    fileprivate func adding(_ name: String, _ value: String) -> HTTPResponse {
        guard headers[name] == nil else { return self }
        var copy = self
        copy.headers[name] = value
        return copy
    }
}
