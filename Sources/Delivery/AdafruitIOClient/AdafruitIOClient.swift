public import Diagnostics
internal import FastJSON
internal import HTTPClient

/// How the service is reached.
public struct AdafruitIOClientConfiguration: Sendable {
    /// The service: `https://io.adafruit.com`, or a stand-in.
    public var service = "https://io.adafruit.com"
    /// Certificate authorities to believe, as a PEM file; nil means the machine's.
    public var caFile: String?
    /// Lets the key travel without encryption to hosts other than this machine.
    public var insecurePlaintext = false
    /// Time for connecting.
    public var connectTimeout: Duration = .seconds(10)
    /// Time for a whole request.
    public var timeout: Duration = .seconds(30)
    /// How long nothing may come while a response is awaited.
    public var stallTimeout: Duration = .seconds(15)

    /// The real service.
    public init() {}
}

/// Adafruit IO's REST interface, version 2, for one account.
///
/// The key goes into the header `X-AIO-Key` and nowhere else. Nothing is retried in here: the errors tell whether that
/// makes sense, how long to wait, and whether the service may have acted already.
public final class AdafruitIOClient: Sendable {
    /// The account's name.
    public let username: String

    private let key: Secret
    private let address: ServiceAddress
    private let http: HTTPClient

    /// Makes a client; nothing is connected yet.
    public init(
        username: String,
        key: Secret,
        _ configuration: AdafruitIOClientConfiguration = AdafruitIOClientConfiguration()
    ) throws(AdafruitIOClientError) {
        self.username = username
        self.key = key
        address = try ServiceAddress(configuration.service, insecurePlaintext: configuration.insecurePlaintext)
        var settings = HTTPClientConfiguration()
        settings.connectTimeout = configuration.connectTimeout
        settings.totalTimeout = configuration.timeout
        settings.stallTimeout = configuration.stallTimeout
        settings.caFile = configuration.caFile
        http = HTTPClient(settings)
    }

    /// Ends what is under way and closes the connections.
    public func close() {
        http.close()
    }

    /// Sends a request below the account's path and gives the response if its status says success.
    func send(
        _ method: String,
        _ path: [String],
        query: [(String, String)] = [],
        body: JSON? = nil
    ) async throws(AdafruitIOClientError) -> HTTPClientResponse {
        try await sendAnywhere(method, [username] + path, query: query, body: body)
    }

    /// Sends a request and gives the response if its status says success.
    func sendAnywhere(
        _ method: String,
        _ path: [String],
        query: [(String, String)] = [],
        body: JSON? = nil
    ) async throws(AdafruitIOClientError) -> HTTPClientResponse {
        var request = HTTPClientRequest(method, address.url(path, query), secretHeaders: [("X-AIO-Key", key)])
        if let body {
            request.headers = [("Content-Type", "application/json")]
            request.body = Array(body.serialized().utf8)
        }
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await http.send(request)
        } catch {
            throw .network(error)
        }
        guard (200...299).contains(response.status) else {
            throw .refused(AdafruitIORefusal(response, request: "\(method) \(address.url(path))"))
        }
        return response
    }

    /// Sends a request and reads the JSON that answers it.
    func ask<Value>(
        _ method: String,
        _ path: [String],
        query: [(String, String)] = [],
        body: JSON? = nil,
        _ read: (JSON) -> Value?
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Value> {
        try understand(try await send(method, path, query: query, body: body), title(method, path), read)
    }

    /// Sends a request whose answer says nothing: some deletions answer `"OK"`, others nothing at all.
    func tell(
        _ method: String,
        _ path: [String],
        body: JSON? = nil
    ) async throws(AdafruitIOClientError) -> AdafruitIOReply<Void> {
        AdafruitIOReply((), date: try await send(method, path, body: body).date)
    }

    /// Reads the JSON of a response.
    func understand<Value>(
        _ response: HTTPClientResponse,
        _ request: String,
        _ read: (JSON) -> Value?
    ) throws(AdafruitIOClientError) -> AdafruitIOReply<Value> {
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(response.body)
        } catch {
            throw .notUnderstood(request: request, detail: "\(error)")
        }
        guard let value = read(json) else {
            throw .notUnderstood(request: request, detail: "a member is missing or has another type")
        }
        return AdafruitIOReply(value, date: response.date)
    }

    func title(_ method: String, _ path: [String]) -> String {
        "\(method) \(address.url([username] + path))"
    }
}
