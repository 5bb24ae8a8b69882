/// The numbers of the motion filter: those of the paper of VQF, which were found on six data sets together.
///
/// D. Laidig, T. Seel: VQF: Highly Accurate IMU Orientation Estimation with Bias Estimation and Magnetic Disturbance
/// Rejection, Information Fusion 91 (2023), doi 10.1016/j.inffus.2022.10.014.
struct MotionTuning: Sendable {
    private static let degree = Double.pi / 180

    /// Time constant of the accelerometer's correction of the inclination, in seconds.
    var inclinationTime = 3.0
    /// Time constant of the magnetometer's correction of the heading, in seconds.
    var headingTime = 9.0

    /// How late a gyroscope's own filter lets it see a change, in seconds: ours, from BROAD's sensor at 57 to 286 Hz.
    var gyroscopeDelay = 0.00175

    /// Standard deviation of the bias at the start, in rad/s.
    var biasAtStart = 0.5 * degree
    /// The time in which the bias may have changed by a fifth of that, in seconds.
    var biasForgetting = 100.0
    /// No bias is larger, in rad/s. Cheap parts have more than the paper's 2 degrees/s.
    var biasLimit = 2.0 * degree
    /// Standard deviation of a converged estimate in motion, in rad/s.
    var biasInMotion = 0.1 * degree
    /// How much of what is known about the vertical part of the bias is forgotten in motion.
    var biasVerticalForgetting = 0.0001
    /// Standard deviation of a converged estimate at rest, in rad/s.
    var biasAtRest = 0.03 * degree

    /// Rest is when for so many seconds both sensors stayed this close to their own low-passed values.
    var restTime = 1.5
    var restFilterTime = 0.5
    var restRate = 2.0 * degree
    var restAcceleration = 0.5

    /// The field counts as undisturbed within this part of the usual strength, and this far from the usual dip.
    var fieldStrength = 0.1
    var fieldDip = 10.0 * degree
    /// Time constants in seconds: of the field now, and of the usual one.
    var fieldTime = 0.05
    var usualFieldTime = 20.0
    /// So long the field must be undisturbed before it counts.
    var undisturbedTime = 0.5
    /// So long a new field must be steady, while the device turns, before it is the usual one; the first time and later.
    var firstFieldTime = 5.0
    var newFieldTime = 20.0
    var newFieldRate = 20.0 * degree
    /// So long a disturbed field is not used at all, and how much less it counts afterwards.
    var longestRejection = 60.0
    var rejectionFactor = 2.0
}
