internal import AdafruitIOClient
internal import Publisher

/// A way to ask the account over REST; nil where that may not be done now.
protocol AccountCalls: Sendable {
    /// Does something that changes nothing.
    func read<Value: Sendable>(
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>?

    /// Creates or changes one feed or group.
    func administer<Value: Sendable>(
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>?
}

extension PublisherDriver: AccountCalls {}

/// Asks at once, as a command does that runs beside the bridge.
struct DirectCalls: AccountCalls {
    let client: AdafruitIOClient

    func read<Value: Sendable>(
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>? {
        try await body(client)
    }

    func administer<Value: Sendable>(
        _ body: @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value>? {
        try await body(client)
    }
}
