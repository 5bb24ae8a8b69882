/// How long a step is, from its cadence and the person's height.
///
/// A step at the usual cadence is 0.415 of the height, the factor of most pedometers. Walkers lengthen their steps as they
/// quicken them: the walk ratio, length by cadence, is nearly constant for a person (Sekiya and Nagasaki 1998). Runners
/// lengthen on, from where a walk ends to three quarters of the height in a sprint (our line through usual runners).
struct StepLength: Sendable {
    /// The person's height in metres.
    let height: Double

    private static let share = 0.415
    private static let usualCadence = 1.85
    private static let slowest = 1.1
    private static let fastestWalk = 2.3
    private static let sprint = 3.4
    private static let sprintShare = 0.75

    /// The length in metres at a cadence in steps per second.
    func metres(at cadence: Double) -> Double {
        let walk = StepLength.share / StepLength.usualCadence
        guard cadence > StepLength.fastestWalk else { return height * walk * max(cadence, StepLength.slowest) }
        let end = walk * StepLength.fastestWalk
        let part =
            (min(cadence, StepLength.sprint) - StepLength.fastestWalk) / (StepLength.sprint - StepLength.fastestWalk)
        return height * (end + (StepLength.sprintShare - end) * part)
    }
}
