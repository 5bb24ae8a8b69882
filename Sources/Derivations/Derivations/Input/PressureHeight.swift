internal import Glibc

/// Heights from pressure.
enum PressureHeight {
    /// The height in metres in the standard atmosphere (ISO 2533) of a pressure in hPa.
    static func metres(_ pressure: Double) -> Double { 44_330.77 * (1 - pow(pressure / 1013.25, 0.190263)) }

    /// A pressure in hPa, whether it was given in Pa, hPa or kPa: the ranges of the earth's surface do not touch.
    static func hectopascals(_ given: Double) -> Double? {
        switch given {
        case 300...1_100: given
        case 30...110: given * 10
        case 30_000...110_000: given / 100
        default: nil
        }
    }
}
