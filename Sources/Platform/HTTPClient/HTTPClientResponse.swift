internal import CCurl
public import Diagnostics

/// A response that has arrived whole, whatever its status.
public struct HTTPClientResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, in their order.
    public var headers: [(name: String, value: String)]
    /// The body, unpacked if it was compressed.
    public var body: [UInt8]
    /// The version that was spoken: `1.1`, `2`.
    public var version: String

    /// Makes a response; for trying code without a server.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [], version: String = "1.1")
    {
        self.status = status
        self.headers = headers
        self.body = body
        self.version = version
    }

    /// The first value of a header, whatever the case of its name.
    public subscript(header: String) -> String? {
        headers.first { $0.name.lowercased() == header.lowercased() }?.value
    }

    /// The server's clock in its `Date` header, to the second; nil when there is none.
    public var date: Timestamp? { time(in: "Date") }

    /// How long `Retry-After` says to wait, at most a day; a date counts from the server's own clock.
    public var retryAfter: Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int(text) { return .seconds(min(max(seconds, 0), 86_400)) }
        guard let until = time(in: "Retry-After"), let date else { return nil }
        return min(max(until - date, .zero), .seconds(86_400))
    }

    private func time(in header: String) -> Timestamp? {
        guard let text = self[header] else { return nil }
        let seconds = curl_getdate(text, nil)
        return seconds >= 0 ? Timestamp(nanoseconds: Int64(seconds) * 1_000_000_000) : nil
    }

    /// The body as text; bytes that are no UTF-8 become replacement characters.
    public var text: String { String(decoding: body, as: UTF8.self) }
}
