internal import CCurl
internal import Diagnostics

/// A client's thread: libcurl's multi handle, its transfers, and the poll around them.
///
/// Thread rule: everything in here, libcurl's callbacks included, runs on the one thread that made it. Only
/// `curl_multi_wakeup` is called by others, through the mailbox.
final class ClientLoop {
    /// `curl_global_init` is not safe beside other uses of libcurl, so it is called once, before any.
    private static let isInitialised: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let mailbox: ClientMailbox
    private let configuration: HTTPClientConfiguration
    private let multi: UnsafeMutableRawPointer?
    private var transfers: [UInt64: Transfer] = [:]
    /// Handles that wait for their next transfer, with what they remember of TLS sessions and names.
    private var spare: [UnsafeMutableRawPointer] = []

    init(_ mailbox: ClientMailbox, _ configuration: HTTPClientConfiguration) {
        self.mailbox = mailbox
        self.configuration = configuration
        multi = Self.isInitialised ? curl_multi_init() : nil
        guard let multi else { return }
        let perHost = max(configuration.connectionsPerHost, 1)
        feedbridge_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, perHost)
        // Connections kept open; the default grows with the number of transfers.
        feedbridge_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 4)
        mailbox.attach(multi)
    }

    func run() {
        while true {
            let (commands, isClosed) = mailbox.take()
            for command in commands {
                switch command {
                case .start(let call): start(call)
                case .cancel(let id): end(id, .cancelled)
                }
            }
            guard !isClosed else { break }
            move()
        }
        mailbox.detach()
        for id in transfers.keys { end(id, .closed) }
        for handle in spare { curl_easy_cleanup(handle) }
        if let multi { curl_multi_cleanup(multi) }
    }

    /// Does what can be done, hands out what is finished, and waits for something to happen.
    private func move() {
        guard let multi else { return }
        // A transfer that ends lets one go that waited for its connection. libcurl 7.88 may forget the timer that it
        // sets for that one, and would wait for ever with nothing to wait for: so it is asked again at once.
        repeat {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
        } while handOut(multi)
        // libcurl shortens the wait to its own timers; the mailbox ends it. For the forgotten timer of a transfer that
        // was let go otherwise, it is short while there are any.
        curl_multi_poll(multi, nil, 0, transfers.isEmpty ? 600_000 : 1000, nil)
    }

    /// Hands out what is finished; says whether anything was.
    private func handOut(_ multi: UnsafeMutableRawPointer) -> Bool {
        var hasFinished = false
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let context = feedbridge_curl_get_private(handle)
            else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let code = feedbridge_curl_result(message)
            let outcome = transfer.outcome(code)
            discard(transfer)
            transfer.call.continuation.resume(returning: outcome)
            hasFinished = true
        }
        return hasFinished
    }

    private func start(_ call: ClientCall) {
        guard let multi, let handle = spare.popLast() ?? curl_easy_init() else {
            call.fail(.internal, "libcurl could not be initialised")
            return
        }
        let transfer = Transfer(call, handle, largestResponse: configuration.largestResponse)
        transfers[call.id] = transfer
        do throws(HTTPClientError) {
            try transfer.prepare(configuration)
            guard curl_multi_add_handle(multi, handle) == CURLM_OK else {
                throw HTTPClientError(.internal, request: call.request.title, detail: "libcurl took no more transfers")
            }
        } catch {
            discard(transfer)
            call.continuation.resume(returning: .failure(error))
        }
    }

    /// Ends a transfer that is under way; nothing happens when it is finished already.
    private func end(_ id: UInt64, _ reason: HTTPClientError.Reason) {
        guard let transfer = transfers[id] else { return }
        let mayHaveArrived = transfer.hasSent
        discard(transfer)
        transfer.call.fail(reason, "", mayHaveArrived: mayHaveArrived)
    }

    private func discard(_ transfer: Transfer) {
        transfers[transfer.call.id] = nil
        if let multi { curl_multi_remove_handle(multi, transfer.handle) }
        transfer.release()
        guard spare.count < 2 else {
            curl_easy_cleanup(transfer.handle)
            return
        }
        curl_easy_reset(transfer.handle)
        spare.append(transfer.handle)
    }
}

extension ClientCall {
    /// Tells who waits that there will be no response.
    func fail(_ reason: HTTPClientError.Reason, _ detail: String, mayHaveArrived: Bool = false) {
        let error = HTTPClientError(reason, request: request.title, detail: detail, mayHaveArrived: mayHaveArrived)
        continuation.resume(returning: .failure(error))
    }
}
