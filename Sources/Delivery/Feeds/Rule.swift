public import DataPoints
internal import Diagnostics
public import Samples

/// What is published: fields of streams, reduced over windows of `every`, to one feed.
public struct Rule: Sendable, Hashable {
    /// The fields: one for a plain value, all members of the object for a composite.
    public var fields: [FieldReference]
    /// Whether the value is an object of all fields (`fields = [...]`) and not the one field's bare value.
    public var isComposite: Bool
    /// Where the points go.
    public var feed: FeedKey
    /// How a window becomes one value.
    public var reduction: Reduction
    /// The length of a window. Windows begin at multiples of it, counted from 1970.
    public var every: Duration
    /// Publish only what differs by more than this from what was last published.
    public var deadBand: Double?
    /// Publish only what differs, as text, from what was last published.
    public var onChange: Bool
    /// Digits after the point, 0 to 15; nil for the shortest text that reads back as the number.
    public var precision: Int?
    /// The rule's part of a budget that is too small for all.
    public var weight: Double
    /// Whether it publishes while the switch is off.
    public var always: Bool
    /// The stream whose newest position goes with each point.
    public var location: Name?

    /// Makes a rule for the bare value of one field.
    public init(
        _ field: FieldReference,
        feed: FeedKey,
        reduction: Reduction = .last,
        every: Duration,
        deadBand: Double? = nil,
        onChange: Bool = false,
        precision: Int? = nil,
        weight: Double = 1,
        always: Bool = false,
        location: Name? = nil
    ) {
        self.init(composite: [field], feed: feed, every: every)
        self.isComposite = false
        self.reduction = reduction
        self.deadBand = deadBand
        self.onChange = onChange
        self.precision = precision
        self.weight = weight
        self.always = always
        self.location = location
    }

    /// Makes a rule for an object of several fields; the other properties are set afterwards.
    public init(composite fields: [FieldReference], feed: FeedKey, every: Duration) {
        self.fields = fields
        self.feed = feed
        self.every = every
        isComposite = true
        reduction = .last
        onChange = false
        weight = 1
        always = false
    }

    /// How many points a minute it makes at most.
    public var pointsPerMinute: Double {
        let seconds = every.inSeconds
        return seconds > 0 ? 60 / seconds : .infinity
    }
}
