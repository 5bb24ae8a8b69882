/// What became of a REST request.
public enum RESTOutcome: Sendable, Hashable {
    /// 2xx for a post: every point of it is stored.
    case stored
    /// 2xx for a list: what the feed holds in the asked span, and whether that is all (one page may not hold it).
    case listed([StoredPoint], isComplete: Bool)
    /// 2xx or 404 for a deletion.
    case deleted
    /// 2xx for a read of `/throttle`: points a minute of the plan, and points counted in the last one, where told.
    case throttle(limit: Int?, used: Int?)
    /// 400, 413, 422 and the like: the service will not take it as it is; why.
    case refused(String)
    /// 422 because of a `created_at` in the service's future.
    case inFuture
    /// 404: there is no such feed.
    case missing
    /// 403: the key may not do this to this feed.
    case forbidden(String)
    /// 422 because the account has no room for another feed.
    case feedLimit
    /// 401: the service does not know the key.
    case keyRefused
    /// 429, with `Retry-After` if it was there.
    case throttled(retryAfter: Duration?)
    /// 5xx, with `Retry-After` if it was there. It may have been done.
    case unavailable(retryAfter: Duration?)
    /// Nothing reached the service: no name, no connection, no TLS.
    case notSent(LinkReason)
    /// No answer, or half of one: it may have been done.
    case lost(LinkReason)

    /// Understands an answer other than 2xx by its status, the service's text, and `Retry-After`.
    public init(status: Int, text: String, retryAfter: Duration? = nil) {
        let words = text.lowercased()
        switch status {
        case 401: self = .keyRefused
        case 403: self = .forbidden(text)
        // A missing feed once came as 400.
        case 404: self = .missing
        case 400 where words.contains("not found"): self = .missing
        case 429: self = .throttled(retryAfter: retryAfter)
        case 408, 500...: self = .unavailable(retryAfter: retryAfter)
        case 422 where words.contains("in the future"): self = .inFuture
        // The data throttle once came as 422.
        case 422 where words.contains("throttle") || words.contains("rate limit"):
            self = .throttled(retryAfter: retryAfter)
        case 422 where words.contains("feed") && (words.contains("limit") || words.contains("maximum")):
            self = .feedLimit
        default: self = .refused(text.isEmpty ? "HTTP status \(status)" : text)
        }
    }
}
