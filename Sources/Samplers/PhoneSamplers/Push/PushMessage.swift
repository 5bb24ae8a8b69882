public import Diagnostics

/// One message that an app or a device has sent, over HTTP or MQTT.
public struct PushMessage: Sendable {
    /// What it says.
    public var body: [UInt8]
    /// The MQTT topic, or the rest of the HTTP path; empty when there is none.
    public var topic: String
    /// Who sent it, where the way it came says so: OwnTracks' headers.
    public var user: String?
    /// The device that sent it, where the way it came says so.
    public var device: String?
    /// Whether a broker kept it from before: then it is no news.
    public var isRetained: Bool
    /// Whether the sender waits to be told that all is stored.
    public var wantsReceipt: Bool
    /// When it came, on the boot-time clock.
    public var arrival: BootInstant
    /// When it came, on the wall clock.
    public var wall: Timestamp

    /// Makes a message.
    public init(
        body: [UInt8],
        topic: String = "",
        user: String? = nil,
        device: String? = nil,
        isRetained: Bool = false,
        wantsReceipt: Bool = true,
        arrival: BootInstant,
        wall: Timestamp
    ) {
        self.body = body
        self.topic = topic
        self.user = user
        self.device = device
        self.isRetained = isRetained
        self.wantsReceipt = wantsReceipt
        self.arrival = arrival
        self.wall = wall
    }
}

/// What the sender is told once all is stored.
public struct PushReply: Sendable, Equatable {
    /// The body of the answer, as JSON.
    public var body: String

    /// Makes a reply.
    public init(_ body: String) {
        self.body = body
    }

    /// Every app but the pickier ones takes this.
    public static let ok = PushReply(#"{"result":"ok"}"#)
}

/// Why a message is not taken.
public struct PushRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The HTTP status that says so.
    public var status: Int
    /// One sentence for a person.
    public var description: String
    /// How long the sender should wait before it tries again, where that may help.
    public var retryAfter: Duration?

    /// Makes a refusal.
    public init(_ status: Int, _ description: String, retryAfter: Duration? = nil) {
        self.status = status
        self.description = description
        self.retryAfter = retryAfter
    }
}

/// Makes samples of an app's messages. A value without lock, clock or input and output.
protocol PushDecoder: Sendable {
    /// Puts what a message says into `gathering`; throws when the message as a whole is of no use.
    mutating func decode(_ message: PushMessage, into gathering: inout SampleGathering) throws(PushRefusal) -> PushReply
}
