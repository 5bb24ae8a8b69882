/// Finds the steps in acceleration of any unit: the mean magnitude is taken as 1 g.
struct StepCounter: Sendable {
    private var detector: StepDetector
    private var level = GravityLevel()

    init(_ tuning: StepTuning = StepTuning()) {
        detector = StepDetector(tuning)
    }

    /// How regular the last seconds were.
    var regularity: Regularity { detector.regularity }
    /// The time of the newest sample that was believed.
    var time: Int64 { detector.time }
    /// Steps per second; nil when nobody walks.
    var cadence: Double? { detector.cadence }

    /// Takes an acceleration at a time.
    mutating func add(_ time: Int64, _ x: Double, _ y: Double, _ z: Double, _ report: (StepDetector.Event) -> Void) {
        let magnitude = (x * x + y * y + z * z).squareRoot()
        guard let scaled = level.scaled(time, magnitude) else { return }
        detector.add(time, scaled, report)
    }
}
