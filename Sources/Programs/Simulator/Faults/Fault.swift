/// Something that is to go wrong, as it is written: `connack:code=6,count=3`.
public enum Fault: Sendable, Hashable {
    /// The next `count` log-ins, or all, are answered with `code`.
    case connack(code: UInt8, count: Int?)
    /// Every account is banned for some seconds, now.
    case ban(seconds: Int)
    /// Every account's data is throttled for some seconds, now.
    case throttle(seconds: Int)
    /// Each so many-th PUBLISH is acknowledged and then forgotten.
    case dropAfterPuback(every: Int)
    /// A PUBACK comes so much later.
    case pubackDelay(milliseconds: Int)
    /// Each so many-th PUBACK is not sent; the message is taken.
    case pubackDrop(every: Int)
    /// A connection falls silent after its so many-th PUBLISH, without being closed.
    case halfOpen(after: Int)
    /// A connection is closed after its so many-th PUBLISH.
    case close(after: Int)
    /// Subscribers get every message twice.
    case echoTwice
    /// The next `count` REST requests, or all, are answered with `status`.
    case rest(status: Int, retryAfter: Int?, count: Int?)
    /// REST answers come so much later.
    case restSlow(milliseconds: Int)
    /// Each so many-th REST request is done, and the connection closed without an answer.
    case lostAnswer(every: Int)
    /// A back-dated point becomes the feed's last value.
    case backdatedLast
    /// Every MQTT connection is closed after so many seconds.
    case keepAliveCut(seconds: Int)
    /// Whether messages on `errors` and `throttle` stand in quotes.
    case quotedMessages(Bool)

    /// The forms that are understood.
    public static let forms = [
        "connack:code=N[,count=N]", "ban:seconds=N", "throttle:seconds=N", "drop-after-puback:every=N",
        "puback-delay:ms=N", "puback-drop:every=N", "half-open:after=N", "close:after=N", "echo-twice",
        "rest:status=N[,retry_after=N][,count=N]", "rest-slow:ms=N", "lost-answer:every=N", "backdated-last",
        "keep-alive-cut:seconds=N", "quoted-messages=on|off",
    ]

    /// Reads a fault.
    public init(_ text: String) throws(SimulatorError) {
        var values = try FaultValues(text)
        switch values.name {
        case "connack":
            self = .connack(code: UInt8(try values.take("code", 1...255)), count: try values.optional("count"))
        case "ban": self = .ban(seconds: try values.take("seconds"))
        case "throttle": self = .throttle(seconds: try values.take("seconds"))
        case "drop-after-puback": self = .dropAfterPuback(every: try values.take("every"))
        case "puback-delay": self = .pubackDelay(milliseconds: try values.take("ms"))
        case "puback-drop": self = .pubackDrop(every: try values.take("every"))
        case "half-open": self = .halfOpen(after: try values.take("after"))
        case "close": self = .close(after: try values.take("after"))
        case "echo-twice": self = .echoTwice
        case "rest":
            self = .rest(
                status: try values.take("status", 400...599),
                retryAfter: try values.optional("retry_after"),
                count: try values.optional("count")
            )
        case "rest-slow": self = .restSlow(milliseconds: try values.take("ms"))
        case "lost-answer": self = .lostAnswer(every: try values.take("every"))
        case "backdated-last": self = .backdatedLast
        case "keep-alive-cut": self = .keepAliveCut(seconds: try values.take("seconds"))
        case "quoted-messages=off": self = .quotedMessages(false)
        case "quoted-messages=on": self = .quotedMessages(true)
        default: throw values.error("faults are \(Fault.forms.joined(separator: " "))")
        }
        try values.end()
    }
}

/// The numbers of a fault's text.
private struct FaultValues {
    let text: String
    let name: String
    private var values: [String: Int] = [:]

    init(_ text: String) throws(SimulatorError) {
        self.text = text
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts.first.map(String.init) ?? ""
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
            let sides = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard sides.count == 2, let number = Int(sides[1]), values[sides[0]] == nil else {
                throw error("\"\(pair)\" is not KEY=NUMBER.")
            }
            values[sides[0]] = number
        }
    }

    mutating func optional(_ key: String, _ range: ClosedRange<Int> = 1...1_000_000) throws(SimulatorError) -> Int? {
        guard let value = values.removeValue(forKey: key) else { return nil }
        guard range.contains(value) else {
            throw error("\(key) is from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    mutating func take(_ key: String, _ range: ClosedRange<Int> = 1...1_000_000) throws(SimulatorError) -> Int {
        guard let value = try optional(key, range) else { throw error("\(key)=NUMBER is missing.") }
        return value
    }

    func end() throws(SimulatorError) {
        guard let key = values.keys.sorted().first else { return }
        throw error("\(name) has no \(key).")
    }

    func error(_ reason: String) -> SimulatorError { .notUnderstood(text, reason: reason) }
}
