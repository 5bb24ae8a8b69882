/// How a sensor is built in: it turns the sensor's axes into those of the device.
///
/// x to the right, y to the top of the screen, z out of the screen.
struct MountMatrix: Sendable, Hashable {
    /// Row by row.
    let rows: [Double]

    static let identity = MountMatrix(rows: [1, 0, 0, 0, 1, 0, 0, 0, 1])

    private init(rows: [Double]) { self.rows = rows }

    /// Reads `a, b, c; d, e, f; g, h, i`; nil when it is no matrix, or one that loses an axis.
    init?(_ text: String) {
        let rows = text.split(separator: ";", omittingEmptySubsequences: false).map { row in
            row.split(separator: ",", omittingEmptySubsequences: false).map { cell in
                Double(String(cell.filter { !$0.isWhitespace }))
            }
        }
        let cells = rows.flatMap { $0 }.compactMap { $0 }
        guard rows.count == 3, rows.allSatisfy({ $0.count == 3 }), cells.count == 9, cells.allSatisfy(\.isFinite) else {
            return nil
        }
        self.init(rows: cells)
        // A turn has 1 or -1. A row of zeros or the same axis twice has 0: what it makes of a reading is wrong.
        guard (0.1...10).contains(determinant.magnitude) else { return nil }
    }

    private var determinant: Double {
        let m = rows
        return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
            + m[2] * (m[3] * m[7] - m[4] * m[6])
    }

    /// The vector in the axes of the device: row times vector.
    func apply(_ x: Double, _ y: Double, _ z: Double) -> (x: Double, y: Double, z: Double) {
        let m = rows
        return (
            m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z
        )
    }
}
