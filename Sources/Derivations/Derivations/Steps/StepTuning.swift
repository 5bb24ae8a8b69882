/// The numbers of the step detector. Each stands in the middle of a plateau, not on a peak (see Scripts/validate).
struct StepTuning: Sendable {
    /// The detector's own rate. Steps are below 4 Hz; wrist counters do with 25 Hz (rieck/stepcounter-devel).
    var rate = 25.0
    /// The band of steps and strides (the offline baseline of the facts: 0.6 to 3.2 Hz).
    var lowest = 0.5
    var highest = 4.0
    /// How far the regularity is looked at, in seconds.
    var window = 3.0
    /// The range of cadences, in steps per second: a slow walk to a sprint.
    var slowest = 1.15
    var fastest = 3.4
    /// The usual cadence and its spread in octaves: what decides between step and stride.
    var usual = 1.85
    var spread = 0.65
    /// What an unusual cadence costs (at `spread` octaves), and what an octave more is worth, in likeness: a period has
    /// its double as a period too, so the shorter of two that are equally good is the right one.
    var priorCost = 0.3
    var octaveBonus = 0.3
    /// Who runs shakes more than who walks: the bonus grows by so much from the first strength to the second (in g).
    var runnersBonus = 0.25
    var walkersStrength = 0.25
    var runnersStrength = 0.6
    /// How alike two steps, and two strides, must be to begin a walk and to go on with it.
    var begin = 0.6
    var goOn = 0.3
    /// How alike strides alone must be: in a back pocket one leg's steps hide the other's (likeness of steps around 0).
    /// A plain swing to and fro is alike at its period and unlike at the half of it: no walk below this.
    var leastStep = -0.35
    var beginByStride = 0.8
    var goOnByStride = 0.5
    /// The least root mean square of the band, in g.
    var least = 0.05
    /// Steps of a start-up streak (ADI's design has 4, wrist counters 10; the target is 8 to 10).
    var streak = 8
    /// So many looks in a row must agree on the period before a walk begins.
    var agreement = 5
    /// How far an interval of the streak may be from the period, as a part of it.
    var evenness = 0.4
    /// A likeness at half the step's period of this part of that at the period is a faster vibration, no walk.
    var fasterShare = 0.75
    /// A peak counts when it is higher than this part of the usual peak.
    var peakShare = 0.35
    /// The first step of a walk is lower than the others, but not lower than this part of them.
    var firstShare = 0.2
    /// How often (in grid samples) the regularity is computed.
    var hop = 5
}
