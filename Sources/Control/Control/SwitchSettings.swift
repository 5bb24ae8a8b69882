/// How the switch behaves.
public struct SwitchSettings: Sendable, Hashable {
    /// What holds after the program has started.
    public enum OnStart: String, Sendable, CaseIterable {
        /// The last applied state, until the feed has been read.
        case follow
        /// On, as if somebody had said so here.
        case on
        /// Off, as if somebody had said so here.
        case off
    }

    /// The words of the feed.
    public var words: SwitchWords
    /// What holds after the program has started.
    public var onStart: OnStart
    /// Whether the bridge writes the control feed; of several bridges on one feed only one should.
    public var writeBack: Bool
    /// Whether the last value can be asked for over MQTT; if not, it is a retained message.
    public var canAsk: Bool
    /// Whether the last value and its time can be read by REST.
    public var hasREST: Bool
    /// How often the feed is read over REST.
    public var pollEvery: Duration
    /// The shortest time between two writes to the control feed.
    public var writeInterval: Duration = .seconds(5)
    /// The shortest time between two texts on the status feed.
    public var statusInterval: Duration = .seconds(60)
    /// How long an answer over MQTT may take.
    public var answerWithin: Duration = .seconds(5)
    /// How long the next value may be a late answer.
    public var answerForgottenAfter: Duration = .seconds(60)
    /// How long the echo of a write may take.
    public var echoWithin: Duration = .seconds(10)
    /// How long the first status waits for the feed, so that it does not tell what is about to change.
    public var statusWaits: Duration = .seconds(15)

    /// Makes settings, by default those of Adafruit IO.
    public init(
        words: SwitchWords = SwitchWords(),
        onStart: OnStart = .follow,
        writeBack: Bool = true,
        canAsk: Bool = true,
        hasREST: Bool = true,
        pollEvery: Duration = .seconds(10)
    ) {
        self.words = words
        self.onStart = onStart
        self.writeBack = writeBack
        self.canAsk = canAsk
        self.hasREST = hasREST
        self.pollEvery = pollEvery
    }
}
