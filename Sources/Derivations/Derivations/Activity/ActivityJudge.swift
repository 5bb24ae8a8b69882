/// What a person or device is doing.
enum ActivityClass: String, Sendable {
    case still
    case walking
    case running
    case vehicle
    case unknown
}

/// What is known of the last seconds.
struct ActivityEvidence: Sendable {
    /// Steps per second; nil when nobody walks.
    var cadence: Double?
    /// Root mean square of the band of steps, in g.
    var strength = 0.0
    /// Root mean square of how the acceleration moves about its mean, all axes, in g; nil for a magnitude alone.
    var unrest = 0.0
    /// How far the mean direction moved in the last half minute, in radians; nil when it is not known.
    var turning: Double?
    /// Speed over ground in m/s; nil when it is not known.
    var speed: Double?
}

/// Decides on the class from cadence, intensity and speed, with a confidence of 0 to 1.
///
/// Steps come first, then speed: nobody walks at 4 m/s without steps. Without a position a vehicle shows only as a
/// steady shaking of a device that keeps its direction, and that is a guess.
enum ActivityJudge {
    /// Runners make more steps a second, or shake more, than walkers: runs begin near 2.4 steps/s, and a walk stays
    /// below half a g (our figures, from the recordings of walks and of the run).
    private static let runningCadence = 2.4
    private static let runningStrength = 0.5
    private static let runningSpeed = 2.4
    private static let vehicleSpeed = 4.0
    private static let stillUnrest = 0.012
    private static let restlessUnrest = 0.15

    static func judge(_ evidence: ActivityEvidence) -> (ActivityClass, confidence: Double) {
        if let cadence = evidence.cadence { return foot(cadence, evidence) }
        if let speed = evidence.speed {
            if speed >= vehicleSpeed { return (.vehicle, 0.9) }
            if speed < 0.5 { return evidence.unrest < 0.03 ? (.still, 0.95) : (.unknown, 0.4) }
            return (.unknown, 0.3)
        }
        if evidence.unrest < stillUnrest { return (.still, 0.9) }
        if evidence.unrest < restlessUnrest, let turning = evidence.turning, turning < 0.2 { return (.vehicle, 0.4) }
        return (.unknown, 0.3)
    }

    private static func foot(_ cadence: Double, _ evidence: ActivityEvidence) -> (ActivityClass, confidence: Double) {
        if let speed = evidence.speed, speed > 12 { return (.vehicle, 0.7) }
        var points = 0.0
        points += cadence >= runningCadence ? 1 : cadence < 2.15 ? -1 : 0
        points += evidence.strength >= runningStrength ? 1 : evidence.strength < 0.3 ? -1 : 0
        if let speed = evidence.speed { points += speed >= runningSpeed ? 1 : speed < 1.9 ? -1 : 0 }
        let confidence = min(0.95, (60 + 15 * abs(points)) / 100)
        return points > 0 ? (.running, confidence) : (.walking, confidence)
    }
}
