internal import Glibc

/// Three axes.
typealias Vector = SIMD3<Double>

extension SIMD3<Double> {
    /// The scalar product.
    @inline(__always)
    func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

    /// The vector product.
    @inline(__always)
    func cross(_ other: Vector) -> Vector {
        Vector(y * other.z - z * other.y, z * other.x - x * other.z, x * other.y - y * other.x)
    }

    /// The length.
    @inline(__always)
    var length: Double { dot(self).squareRoot() }

    /// Whether no axis is NaN or infinite.
    var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }

    /// Every axis at most `limit` from zero.
    @inline(__always)
    func limited(to limit: Double) -> Vector {
        clamped(lowerBound: Vector(repeating: -limit), upperBound: Vector(repeating: limit))
    }
}

/// A rotation as a unit quaternion.
struct Quaternion: Sendable, Hashable {
    var w: Double
    var v: Vector

    /// No rotation.
    static let identity = Quaternion(w: 1, v: .zero)

    /// The rotation by `angle` about the vertical axis.
    static func yaw(_ angle: Double) -> Quaternion {
        Quaternion(w: cos(angle / 2), v: Vector(0, 0, sin(angle / 2)))
    }

    /// The rotation by a small rotation vector.
    @inline(__always)
    static func turn(_ by: Vector) -> Quaternion {
        let square = by.dot(by)
        // The series is exact to the last bit below a tenth of a radian, and needs no sine.
        guard square > 0.01 else {
            let quarter = square / 4
            let w = 1 - quarter / 2 * (1 - quarter / 12 * (1 - quarter / 30))
            let s = 0.5 * (1 - quarter / 6 * (1 - quarter / 20 * (1 - quarter / 42)))
            return Quaternion(w: w, v: by * s)
        }
        let angle = square.squareRoot()
        return Quaternion(w: cos(angle / 2), v: by * (sin(angle / 2) / angle))
    }

    /// First `right`, then `left`.
    @inline(__always)
    static func * (left: Quaternion, right: Quaternion) -> Quaternion {
        Quaternion(
            w: left.w * right.w - left.v.dot(right.v),
            v: right.v * left.w + left.v * right.w + left.v.cross(right.v)
        )
    }

    /// The way back.
    var inverse: Quaternion { Quaternion(w: w, v: -v) }

    /// The same with length 1.
    @inline(__always)
    var normalized: Quaternion {
        let scale = 1 / (w * w + v.dot(v)).squareRoot()
        return Quaternion(w: w * scale, v: v * scale)
    }

    /// A vector turned.
    @inline(__always)
    func rotate(_ vector: Vector) -> Vector {
        let t = v.cross(vector) * 2
        return vector + t * w + v.cross(t)
    }

    /// The three rows of the rotation matrix.
    @inline(__always)
    var rows: (Vector, Vector, Vector) {
        let (x, y, z) = (v.x, v.y, v.z)
        return (
            Vector(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            Vector(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            Vector(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
        )
    }
}
