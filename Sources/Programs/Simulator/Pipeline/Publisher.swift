/// Who sends a message.
struct Publisher: Sendable {
    var account: String
    var client: String
    var address: String

    func request(_ action: String, _ topic: String) -> ServiceTexts.Request {
        ServiceTexts.Request(client: client, address: address, action: action, topic: topic)
    }
}

/// Why a message was not stored.
enum Rejection: Error, Sendable {
    /// Said on `errors`, and counted as a failed PUBLISH.
    case failed(String)
    /// Said on `errors`, not counted: the account is banned.
    case blocked(String)
    /// Over the data rate.
    case throttled(seconds: Int)
    /// Over the enforcement limit: this very message brought a ban.
    case banned(seconds: Int)
    /// The store failed.
    case store(StoreError)
}
