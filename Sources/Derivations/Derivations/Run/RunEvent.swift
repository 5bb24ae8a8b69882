/// What a run tracker has to say.
enum RunEvent: Sendable, Hashable {
    /// The first fix.
    case started(Int64)
    /// Standing still.
    case paused(Int64)
    /// Going on.
    case resumed(Int64)
    /// Nothing is known about what lies before this.
    case gap(Int64)
    /// A split is full.
    case split(RunSplit)
}

/// One kilometre, or whatever a split was set to.
struct RunSplit: Sendable, Hashable {
    /// From 1.
    var number: Int
    /// When it was full, in nanoseconds.
    var time: Int64
    /// Its length in metres.
    var distance: Double
    /// Seconds of moving.
    var moving: Double
    /// Metres up.
    var climb: Double
}
