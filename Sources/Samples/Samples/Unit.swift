/// The unit of a field, by its symbol. SI inside; a sampler converts once, at its edge.
public struct Unit: Sendable, Hashable, RawRepresentable {
    /// The symbol as shown to people and stored beside a recording.
    public let rawValue: String

    /// Makes a unit with that symbol.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// No unit: a count, a class, a name.
    public static let none = Unit(rawValue: "")
    /// Acceleration.
    public static let metresPerSecondSquared = Unit(rawValue: "m/s^2")
    /// Angular rate.
    public static let radiansPerSecond = Unit(rawValue: "rad/s")
    /// Magnetic flux density.
    public static let microtesla = Unit(rawValue: "uT")
    /// Pressure.
    public static let hectopascals = Unit(rawValue: "hPa")
    /// Illuminance.
    public static let lux = Unit(rawValue: "lx")
    /// Length.
    public static let metres = Unit(rawValue: "m")
    /// Duration.
    public static let seconds = Unit(rawValue: "s")
    /// Speed.
    public static let metresPerSecond = Unit(rawValue: "m/s")
    /// Temperature.
    public static let degreesCelsius = Unit(rawValue: "°C")
    /// An angle of a circle of 360.
    public static let degrees = Unit(rawValue: "deg")
    /// An angle.
    public static let radians = Unit(rawValue: "rad")
    /// A part of a hundred.
    public static let percent = Unit(rawValue: "%")
    /// An amount of data.
    public static let bytes = Unit(rawValue: "B")
    /// A data rate.
    public static let bytesPerSecond = Unit(rawValue: "B/s")
    /// Voltage.
    public static let volts = Unit(rawValue: "V")
    /// Current.
    public static let amperes = Unit(rawValue: "A")
    /// Power.
    public static let watts = Unit(rawValue: "W")
    /// Energy.
    public static let joules = Unit(rawValue: "J")
    /// Rotation.
    public static let revolutionsPerMinute = Unit(rawValue: "rpm")
    /// Heart rate.
    public static let beatsPerMinute = Unit(rawValue: "1/min")
}
