internal import Glibc

extension WorldMagneticModel {
    /// So many years from its epoch the model still says where north is, to a degree or so.
    private static let longest = 10.0

    /// How far magnetic north lies east of true north, in radians, at sea level; nil when it is not known.
    ///
    /// Degrees, and years with their fraction. The sum of spherical harmonics is that of the model's technical report.
    static func declination(latitude: Double, longitude: Double, year: Double) -> Double? {
        let years = year - epoch
        // At the poles there is no east.
        guard abs(latitude) < 89.9, abs(longitude) <= 360, abs(years) <= longest else { return nil }
        let geodetic = latitude * .pi / 180
        let east = longitude * .pi / 180
        let place = geocentric(geodetic)
        let field = field(place.latitude, place.radius, east, years)
        // From the sphere's north to the ellipsoid's.
        let tilt = place.latitude - geodetic
        let north = field.north * cos(tilt) - field.down * sin(tilt)
        // Close to the magnetic poles the needle points nowhere.
        guard (north * north + field.east * field.east).squareRoot() > 2_000 else { return nil }
        return atan2(field.east, north)
    }

    /// Latitude and radius (in the model's radii of 6371.2 km) of a point on the WGS 84 ellipsoid.
    private static func geocentric(_ latitude: Double) -> (latitude: Double, radius: Double) {
        let (a, b) = (6_378.137, 6_356.7523142)
        let (c, s) = (cos(latitude), sin(latitude))
        let prime = a * a / (a * a * c * c + b * b * s * s).squareRoot()
        let (level, up) = (prime * c, prime * s * (b * b) / (a * a))
        return (atan2(up, level), (level * level + up * up).squareRoot() / 6_371.2)
    }

    private static func field(
        _ latitude: Double,
        _ radius: Double,
        _ east: Double,
        _ years: Double
    ) -> (north: Double, east: Double, down: Double) {
        let (c, s) = (sin(latitude), cos(latitude))
        var result = (north: 0.0, east: 0.0, down: 0.0)
        let width = degree + 1
        // Schmidt's half-normalised Legendre functions of the colatitude, and their slopes.
        var p = [Double](repeating: 0, count: width * width)
        var slope = p
        p[0] = 1
        var place = 0
        for n in 1...degree {
            let share = pow(1 / radius, Double(n + 2))
            for m in 0...n {
                let at = n * width + m
                let before = (n - 1) * width
                if m == n {
                    let scale = n == 1 ? 1 : (Double(2 * n - 1) / Double(2 * n)).squareRoot()
                    p[at] = scale * s * p[before + n - 1]
                    slope[at] = scale * (s * slope[before + n - 1] + c * p[before + n - 1])
                } else {
                    let scale = 1 / Double(n * n - m * m).squareRoot()
                    let older = n >= 2 ? Double((n - 1) * (n - 1) - m * m).squareRoot() : 0
                    let two = max(0, n - 2) * width + m
                    p[at] = scale * (Double(2 * n - 1) * c * p[before + m] - older * p[two])
                    slope[at] =
                        scale * (Double(2 * n - 1) * (c * slope[before + m] - s * p[before + m]) - older * slope[two])
                }
                let entry = coefficients[place]
                place += 1
                let g = entry.g + years * entry.gYear
                let h = entry.h + years * entry.hYear
                let (cosine, sine) = (cos(Double(m) * east), sin(Double(m) * east))
                result.north += share * (g * cosine + h * sine) * slope[at]
                result.east += share * Double(m) * (g * sine - h * cosine) * p[at] / s
                result.down -= share * Double(n + 1) * (g * cosine + h * sine) * p[at]
            }
        }
        return result
    }
}
