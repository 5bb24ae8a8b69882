internal import Glibc

/// Which side of the device points up, in a phone's words.
enum Face: String, Sendable {
    /// The top of the screen is up: +1 g on y.
    case portrait
    case portraitUpsideDown = "portrait_upside_down"
    /// The right side is up: +1 g on x, the device was turned counter-clockwise.
    case landscapeLeft = "landscape_left"
    case landscapeRight = "landscape_right"
    case faceUp = "face_up"
    case faceDown = "face_down"
    case unknown
}

/// Finds the face that points up, and changes its mind only when it is plainly another.
///
/// A face is taken within 35 degrees of its axis (the thresholds of iio-sensor-proxy), after a third of a second; between
/// two faces the one before stays.
struct FaceFinder: Sendable {
    private static let near = cos(35 * Double.pi / 180)
    private static let smoothing = 0.15
    private static let hold = 0.3
    private static let gravity = 9.80665
    private static let longestGap = 2.0

    private(set) var face = Face.unknown
    private var smooth = Vector.zero
    private var candidate = Face.unknown
    private var seconds = 0.0
    private var isStarted = false

    /// Takes an acceleration in m/s^2 and the seconds since the one before; nil when its unit is not known.
    mutating func add(_ acceleration: Vector?, seconds passed: Double) -> Face? {
        guard let acceleration, passed <= FaceFinder.longestGap else {
            isStarted = false
            candidate = .unknown
            return change(to: .unknown)
        }
        let step = max(0, passed)
        smooth = isStarted ? smooth + (acceleration - smooth) * (1 - exp(-step / FaceFinder.smoothing)) : acceleration
        isStarted = true
        let length = smooth.length
        // In free fall, or while it is swung about, gravity does not show.
        guard length > 0.7 * FaceFinder.gravity, length < 1.3 * FaceFinder.gravity else { return nil }
        let found = FaceFinder.face(smooth / length)
        guard found == candidate else {
            candidate = found
            seconds = 0
            return nil
        }
        seconds += step
        guard found != .unknown, found != face, seconds >= FaceFinder.hold else { return nil }
        return change(to: found)
    }

    private mutating func change(to new: Face) -> Face? {
        guard new != face else { return nil }
        face = new
        return new
    }

    private static func face(_ up: Vector) -> Face {
        if up.z > near { return .faceUp }
        if up.z < -near { return .faceDown }
        if up.y > near { return .portrait }
        if up.y < -near { return .portraitUpsideDown }
        if up.x > near { return .landscapeLeft }
        return up.x < -near ? .landscapeRight : .unknown
    }
}
