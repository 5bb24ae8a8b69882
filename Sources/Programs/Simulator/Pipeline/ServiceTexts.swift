internal import FastJSON

/// The texts of the `errors` and `throttle` topics.
///
/// Written here and not in the module that reads them, so that a mistake in one does not agree with itself in the other.
enum ServiceTexts {
    /// Who did what: the beginning of most texts.
    struct Request: Sendable {
        var client: String
        var address: String
        var action: String
        var topic: String

        var start: String { "\(client) \(address) \(action) \(topic)" }
    }

    static func dataRate(user: String, seconds: Int) -> String {
        "\(user) data rate limit reached, \(seconds) seconds until throttle released"
    }

    static func subscribesLeft(_ request: Request, _ left: Int) -> String {
        "\(request.start) only \(left) attempts remaining in the next 60 seconds, please slow your request rate"
    }

    static func tooManyRequests(_ request: Request) -> String {
        "\(request.start) made too many requests, wait before reconnecting"
    }

    static func banned(seconds: Int) -> String {
        "enforcement limit reached, your account is banned for \(seconds) seconds"
    }

    static func invalidTopic(_ request: Request) -> String {
        "\(request.start) rejected, not a valid resource topic"
    }

    static func onlySharedFeeds(_ request: Request) -> String {
        "\(request.start) rejected, only shared feeds may be published to"
    }

    static func notAuthorized(_ request: Request) -> String {
        "\(request.start) rejected, resource not available or not authorized"
    }

    static func blocked(_ request: Request) -> String {
        "\(request.start) rejected, user is temporarily blocked"
    }

    static func validation(_ sentence: String) -> String {
        "Validation failed: \(sentence)"
    }

    /// The service's own words for the following are not known.
    static func tooLarge(_ request: Request, most: Int) -> String {
        "\(request.start) rejected, value is too large, the maximum is \(most) bytes"
    }

    static func feedLimit(_ request: Request, most: Int) -> String {
        "\(request.start) rejected, the limit of \(most) feeds is reached"
    }

    static func badPayload(_ request: Request, _ why: String) -> String {
        "\(request.start) rejected, \(why)"
    }

    /// The payload: a JSON string, in double quotes, or the bare text.
    static func payload(_ text: String, quoted: Bool) -> [UInt8] {
        guard quoted else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        JSON.write(string: text, to: &bytes)
        return bytes
    }
}
