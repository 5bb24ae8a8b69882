/// Sends requests over HTTP and HTTPS, many at a time, and keeps connections open between them.
///
/// The first request starts one thread, which does everything with libcurl; until then nothing is initialised. No
/// redirect is followed. A `POST` or `PATCH` is never sent twice by itself: libcurl would do so when a kept connection
/// turns out to be dead, and double what the server may have stored already.
public final class HTTPClient: Sendable {
    private let configuration: HTTPClientConfiguration
    private let mailbox = ClientMailbox()

    /// Makes a client; no thread is started yet.
    public init(_ configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
        self.configuration = configuration
    }

    deinit {
        close()
    }

    /// Sends a request and gives the response, of whatever status.
    ///
    /// Cancelling the task ends the transfer; the error then says whether the request may have arrived.
    public func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
        let id = mailbox.newID()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: ClientContinuation) in
                let refusal = mailbox.start(
                    ClientCall(id: id, request: request, continuation: continuation),
                    configuration
                )
                if let refusal {
                    continuation.resume(returning: .failure(refusal))
                } else if Task.isCancelled {
                    // Cancelled before the line above: then the handler below came too early.
                    mailbox.cancel(id)
                }
            }
        } onCancel: {
            mailbox.cancel(id)
        }
        return try outcome.get()
    }

    /// Ends every transfer with an error, closes every connection and ends the thread; returns when all that is done.
    public func close() {
        mailbox.close()
    }
}

/// Where the outcome of a request goes.
typealias ClientContinuation = CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>

/// A request and who waits for it.
struct ClientCall: Sendable {
    let id: UInt64
    let request: HTTPClientRequest
    let continuation: ClientContinuation
}
