internal import AdafruitIO
public import Diagnostics
internal import FastJSON
public import HTTPClient

/// Why a request to Adafruit IO did not do what was asked.
public enum AdafruitIOClientError: Error, Sendable {
    /// The address of the service is none.
    case badAddress(String)
    /// The key would travel in the clear to that host.
    case plaintextRefused(String)
    /// No answer came.
    case network(HTTPClientError)
    /// The service answered that it will not.
    case refused(AdafruitIORefusal)
    /// The service answered that it did, but with something that cannot be understood.
    case notUnderstood(request: String, detail: String)

    /// The refusal, when the service answered one.
    public var refusal: AdafruitIORefusal? {
        guard case .refused(let refusal) = self else { return nil }
        return refusal
    }

    /// Whether the same request may succeed later without anybody changing anything.
    public var isRetriable: Bool {
        switch self {
        case .badAddress, .plaintextRefused, .notUnderstood: false
        case .network(let error): error.isRetriable
        case .refused(let refusal): refusal.isRetriable
        }
    }

    /// Whether the service may have done what was asked although there is an error: look before asking again.
    public var mayHaveArrived: Bool {
        switch self {
        case .badAddress, .plaintextRefused: false
        case .network(let error): error.mayHaveArrived
        case .refused(let refusal): refusal.reason == .unavailable
        case .notUnderstood: true
        }
    }
}

extension AdafruitIOClientError: CustomStringConvertible {
    /// What failed, on what, why, and what to do.
    public var description: String {
        switch self {
        case .badAddress(let text):
            "\"\(text)\" is no address of a service: write one like https://io.adafruit.com."
        case .plaintextRefused(let host):
            "The key would go to \(host) without encryption. Use https://, or allow it with insecure_plaintext = true."
        case .network(let error): "\(error)"
        case .refused(let refusal): "\(refusal)"
        case .notUnderstood(let request, let detail):
            "\(request) was answered with something that cannot be understood: \(detail)."
        }
    }
}

/// An answer of the service that says no.
public struct AdafruitIORefusal: Sendable, Hashable {
    /// What the status means.
    public enum Reason: Sendable, Hashable {
        /// 401: name and key do not belong together.
        case keyRefused
        /// 403: the key may not do that.
        case forbidden
        /// 404: there is no such thing; for the last value also: the feed is empty.
        case notFound
        /// 429: too many data points or requests.
        case throttled
        /// 400, 406, 422: the service does not take the values, or a limit of the plan is reached.
        case invalid
        /// 5xx: trouble on the service's side.
        case unavailable
        /// Any other status.
        case other
    }

    /// What the status means.
    public let reason: Reason
    /// The status code.
    public let status: Int
    /// The service's sentences; empty when it sent none.
    public let messages: [String]
    /// How long the service asks to wait, in `Retry-After` or in its sentence.
    public let wait: Duration?
    /// The service's clock.
    public let date: Timestamp?
    /// Method and address.
    public let request: String

    /// Whether the same request may succeed later without anybody changing anything.
    public var isRetriable: Bool { reason == .throttled || reason == .unavailable }

    init(_ response: HTTPClientResponse, request: String) {
        let messages = Self.messages(in: response.body)
        let said = messages.map(ServiceMessage.init)
        let isThrottle = said.contains { if case .dataRate = $0.reason { true } else { false } }
        status = response.status
        self.messages = messages
        self.request = request
        date = response.date
        wait = response.retryAfter ?? said.lazy.compactMap(\.wait).first
        reason =
            switch response.status {
            case 401: .keyRefused
            case 403: .forbidden
            case 404: .notFound
            case 429: .throttled
            // What 429 is now was 422 once; the sentence tells.
            case 422 where isThrottle: .throttled
            case 400, 406, 422: .invalid
            case 500...599: .unavailable
            default: .other
            }
    }

    /// `{"error": "text"}`, `{"error": ["text", …]}`, or a short text that is no JSON, such as `Retry later`.
    private static func messages(in body: [UInt8]) -> [String] {
        if let json = try? JSON.parse(body) {
            let error = json["error"] ?? json["message"] ?? json
            if let text = error.string { return [text] }
            return error.array?.map { $0.string ?? $0.serialized() } ?? []
        }
        // A page of a proxy says nothing to anybody.
        let text = String(decoding: body.prefix(200), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.isEmpty || line.hasPrefix("<") ? [] : [line]
    }
}

extension AdafruitIORefusal: CustomStringConvertible {
    /// What failed, on what, why, and what to do.
    public var description: String {
        let what =
            switch reason {
            case .keyRefused: "the service does not accept the key. Check the user name and the key file"
            case .forbidden: "the key may not do that"
            case .notFound: "there is no such thing"
            case .throttled: "too much was sent"
            case .invalid: "the service does not take it"
            case .unavailable: "the service is in trouble"
            case .other: "the service answered unexpectedly"
            }
        let rest = messages.isEmpty ? "" : ": " + messages.joined(separator: "; ")
        return "\(request) failed: \(what) (\(status)\(rest))"
    }
}
