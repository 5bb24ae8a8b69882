internal import Glibc
internal import Samples

/// Finds the circles that a place may lie in, without looking at all of them.
///
/// Each circle lies in the cells of a grid whose cells are as large as it, so in four to nine of them; there is one grid for
/// each size that occurs. Circles near a pole, where cells get narrow, are always looked at.
struct GeofenceGrid: Sendable {
    private struct Cell: Hashable {
        var level: Int32
        var east: Int32
        var north: Int32
    }

    private var cells: [Cell: [Int]] = [:]
    private var levels: [Int32] = []
    private var everywhere: [Int] = []

    /// Makes a grid of circles; they are known by their places in the list.
    init(_ circles: [GeofenceCircle]) {
        for (place, circle) in circles.enumerated() { insert(place, circle) }
        levels.sort()
    }

    /// Calls `body` with each circle that may hold `place`, perhaps with others.
    @inline(__always)
    func forEach(at place: GeoPosition, _ body: (Int) -> Void) {
        for number in everywhere { body(number) }
        for level in levels {
            guard let found = cells[GeofenceGrid.cell(level, place.longitude, place.latitude)] else { continue }
            for number in found { body(number) }
        }
    }

    private mutating func insert(_ place: Int, _ circle: GeofenceCircle) {
        // A degree of latitude is 110.6 to 111.7 km: a hundredth more than the circle is certain to hold it.
        let up = 1.01 * circle.radius / 110_574
        let lowest = circle.middle.latitude - up
        let highest = circle.middle.latitude + up
        let widest = max(abs(lowest), abs(highest))
        guard widest < 85 else { return everywhere.append(place) }
        let across = up / cos(widest * .pi / 180)
        // The grid whose cells are at least as large as the circle.
        let level = Int32(max(-14, min(8, log2(2 * max(up, across)).rounded(.up))))
        let size = exp2(Double(level))
        guard 2 * across < 4 * size else { return everywhere.append(place) }
        if !levels.contains(level) { levels.append(level) }
        let first = GeofenceGrid.cell(level, circle.middle.longitude - across, lowest)
        let columns = Int(((2 * across) / size).rounded(.up)) + 1
        let rows = Int((2 * up / size).rounded(.up)) + 1
        for row in 0..<rows {
            for column in 0..<columns {
                let longitude = circle.middle.longitude - across + Double(column) * size
                var cell = GeofenceGrid.cell(level, min(longitude, circle.middle.longitude + across), lowest)
                cell.north = first.north + Int32(row)
                if cells[cell]?.contains(place) != true { cells[cell, default: []].append(place) }
            }
        }
    }

    /// The cell of a place; longitudes go around.
    private static func cell(_ level: Int32, _ longitude: Double, _ latitude: Double) -> Cell {
        let size = exp2(Double(level))
        var turned = longitude
        if turned >= 180 { turned -= 360 } else if turned < -180 { turned += 360 }
        return Cell(
            level: level,
            east: Int32(((turned + 180) / size).rounded(.down)),
            north: Int32(((latitude + 90) / size).rounded(.down))
        )
    }
}
