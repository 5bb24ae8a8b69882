internal import Samples

/// What the kernel's numbers for a temperature mean.
enum Temperature {
    /// What drivers say when nothing is connected, in thousandths of a degree.
    private static let notThere: Set<Double> = [0, -40_000, -273_000, 255_000]

    /// The temperature for a number of thousandths of a degree; `missing` for what stands for "not there".
    static func value(thousandths: Double) -> Value {
        guard !notThere.contains(thousandths), thousandths > -273_150 else { return .missing }
        return Value(thousandths / 1_000)
    }
}

/// A thermal zone's scale: thousandths by the rule, whole degrees from some drivers.
///
/// A number below 150 is taken for whole degrees until a number of at least 1,000 shows that the driver counts thousandths.
struct ThermalScale {
    private var isThousandths = false

    mutating func value(_ number: Double) -> Value {
        if number.magnitude >= 1_000 { isThousandths = true }
        if !isThousandths, number.magnitude < 150 { return Temperature.value(thousandths: number * 1_000) }
        return Temperature.value(thousandths: number)
    }
}
