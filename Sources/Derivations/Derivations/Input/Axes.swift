internal import Samples

/// Where a stream's samples hold three axes, or a magnitude alone.
struct Axes: Sendable {
    private let x: Int
    private let y: Int?
    private let z: Int?
    private let width: Int

    /// The fields `x`, `y` and `z`, or else the field `a` for a magnitude; nil when the stream has neither.
    init?(_ stream: Stream) {
        func place(_ name: String) -> Int? { stream.fields.firstIndex { $0.name.text == name } }
        if let x = place("x"), let y = place("y"), let z = place("z") {
            self.x = x
            self.y = y
            self.z = z
        } else if let magnitude = place("a") {
            x = magnitude
            y = nil
            z = nil
        } else {
            return nil
        }
        width = stream.fields.count
    }

    /// Whether there is no more than a magnitude.
    var isMagnitude: Bool { y == nil }

    /// The axes of sample `row` of `batch`; nil when one is missing.
    @inline(__always)
    func read(_ values: borrowing [Value], _ row: Int) -> (x: Double, y: Double, z: Double)? {
        let base = row * width
        guard let x = values[base + x].real else { return nil }
        guard let placeY = y, let placeZ = z else { return (x, 0, 0) }
        guard let y = values[base + placeY].real, let z = values[base + placeZ].real else { return nil }
        return (x, y, z)
    }
}

extension Value {
    /// The measured number, without what a text would need.
    @inline(__always)
    var real: Double? {
        switch self {
        case .real(let number): number
        case .integer(let count): Double(count)
        case .missing, .text, .flag: nil
        }
    }
}
