/// The numbers of the run tracker, with where each comes from.
struct RunTuning: Sendable, Hashable {
    /// Fixes with a larger radius are ignored, in metres.
    var accuracy = 50.0
    /// Legs that are faster are no run, in m/s.
    var fastest = 12.0
    /// Fixes that follow the last one sooner are ignored, in seconds: at 10 Hz noise is longer than the way.
    var interval = 0.9
    /// Fixes that are nearer to the last one are ignored, in metres.
    var leg = 0.0
    /// A longer time between two fixes is a gap over which nothing is counted; nil: ten usual intervals.
    var gap: Double?
    /// The length of a split in metres.
    var split = 1_000.0
    /// Whether standing still stops the clock.
    var autoPause = true

    /// Below this speed people stand, in m/s (measured noise at rest: 0.33 m/s peak).
    static let standing = 0.5
    /// Above this speed they have gone on.
    static let going = 0.9
    /// How long one has to stand, in seconds: then the speed of a line through fixes with 3 m of noise is known to 0.2 m/s.
    static let window = 15.0
    /// Fixes that make a window: fewer are too few to call them noise.
    static let windowFixes = 5
    /// The same where fixes come seldom: loggers that keep a point every ten metres keep few that are noise.
    static let sparseWindowFixes = 8
    /// Going on means to be so far from where one stood, in metres: five times a noise of 3 m.
    static let departure = 15.0
    /// All fixes of one who stands lie within this of their middle, in metres.
    static let spread = 10.0
    /// A gap in which less happened is none: a logger that keeps a point only when one has moved.
    static let harmlessGap = 25.0
    /// The shortest and longest time that is taken for a gap when none is set, in seconds (fixes at 1 Hz are up to 12 s
    /// apart in real recordings).
    static let gaps = 20.0...300.0
    /// Below this speed a leg was mostly standing, in m/s (gpxpy's 1 km/h).
    static let slowest = 1 / 3.6
}
