internal import CCurl

/// Why a request got no response.
///
/// A response of any status is no error. The text names the method, the address without its query, and libcurl's
/// sentence; never a header.
public struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it was.
    public enum Reason: Sendable, Hashable {
        /// The request itself cannot be sent: its address, a header, a proxy's name.
        case badRequest
        /// The host's name was not found.
        case dns
        /// Nobody accepted the connection.
        case connect
        /// The peer's certificate was not accepted, or a file of certificates cannot be used.
        case certificate
        /// TLS did not come up for another reason.
        case tls
        /// The time for connecting or for all was over, or nothing moved.
        case timeout
        /// The connection broke before the response was whole.
        case connectionLost
        /// The response is larger than allowed.
        case tooLarge
        /// What came was no HTTP.
        case malformed
        /// The task was cancelled.
        case cancelled
        /// The client was closed.
        case closed
        /// Something on this side, such as memory.
        case `internal`
    }

    /// What kind of failure it was.
    public let reason: Reason
    /// What was asked for, without query and headers.
    public let request: String
    /// The library's sentence.
    public let detail: String
    /// Whether the server may have acted on the request: some of it was sent.
    public let mayHaveArrived: Bool

    /// Makes an error.
    public init(_ reason: Reason, request: String, detail: String, mayHaveArrived: Bool = false) {
        self.reason = reason
        self.request = request
        self.detail = detail
        self.mayHaveArrived = mayHaveArrived
    }

    /// Whether the same request may succeed later without anybody changing anything.
    public var isRetriable: Bool {
        switch reason {
        case .dns, .connect, .tls, .timeout, .connectionLost, .malformed: true
        case .badRequest, .certificate, .tooLarge, .cancelled, .closed, .internal: false
        }
    }

    /// What failed, on what, and why.
    public var description: String {
        let what =
            switch reason {
            case .badRequest: "the request cannot be sent"
            case .dns: "the host's name was not found"
            case .connect: "nobody answered"
            case .certificate: "the server's certificate was not accepted"
            case .tls: "TLS did not come up"
            case .timeout: "it took too long"
            case .connectionLost: "the connection broke"
            case .tooLarge: "the response is too large"
            case .malformed: "the response is no HTTP"
            case .cancelled: "it was cancelled"
            case .closed: "the client is closed"
            case .internal: "something failed on this side"
            }
        return "\(request) failed: \(what)" + (detail.isEmpty ? "" : " (\(detail))")
    }
}

extension HTTPClientError.Reason {
    /// What a result of libcurl means.
    init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION:
                .badRequest
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .connect
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
                CURLE_SSL_CERTPROBLEM, CURLE_SSL_INVALIDCERTSTATUS:
                .certificate
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND: .tls
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_FILESIZE_EXCEEDED: .tooLarge
            case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM: .malformed
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_SEND_FAIL_REWIND:
                .connectionLost
            default: .internal
            }
    }
}
