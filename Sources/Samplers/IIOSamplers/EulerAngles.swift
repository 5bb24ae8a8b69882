internal import Glibc

/// A rotation as angles about x, y and z in radians.
struct EulerAngles {
    let roll: Double
    let pitch: Double
    let yaw: Double

    /// From a quaternion of length 1.
    init(w: Double, x: Double, y: Double, z: Double) {
        roll = atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch = asin(min(1, max(-1, 2 * (w * y - z * x))))
        yaw = atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    }
}
