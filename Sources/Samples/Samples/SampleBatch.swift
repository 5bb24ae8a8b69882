public import Diagnostics

/// One value of a sample.
public enum Value: Sendable, Hashable {
    /// Not known: the source did not say.
    case missing
    /// A measured number; never NaN or infinite (those are `missing`).
    case real(Double)
    /// A count.
    case integer(Int64)
    /// A word or an id.
    case text(String)
    /// Yes or no.
    case flag(Bool)

    /// A measured number, or `missing` when it is NaN or infinite.
    public init(_ number: Double) {
        self = number.isFinite ? .real(number) : .missing
    }

    /// The value as a number: a flag is 0 or 1; nil for a text and for what is missing.
    public var number: Double? {
        switch self {
        case .real(let number): number
        case .integer(let count): Double(count)
        case .flag(let flag): flag ? 1 : 0
        case .text, .missing: nil
        }
    }
}

/// Samples of one stream, in the order in which the source gave them.
///
/// Values lie row by row: sample `i` has `values[i * fields ..< (i + 1) * fields]`.
public struct SampleBatch: Sendable {
    /// The stream they belong to.
    public let stream: Stream
    /// When they reached us, on the boot-time clock: it lets a wall time that was wrong be put right later.
    public var arrival: BootInstant
    /// The time of each sample.
    public private(set) var times: [Timestamp] = []
    /// The values of all samples, row by row.
    public private(set) var values: [Value] = []

    /// Makes an empty batch.
    public init(_ stream: Stream, arrival: BootInstant) {
        self.stream = stream
        self.arrival = arrival
    }

    /// Makes a batch of one sample.
    public init(_ stream: Stream, arrival: BootInstant, time: Timestamp, _ values: [Value]) {
        self.init(stream, arrival: arrival)
        append(time: time, values)
    }

    /// Makes a batch of many samples; `values` lie row by row, one for each field.
    public init(_ stream: Stream, arrival: BootInstant, times: [Timestamp], values: [Value]) {
        precondition(
            values.count == times.count * stream.fields.count,
            "a sample has one value for each field of its stream"
        )
        self.init(stream, arrival: arrival)
        self.times = times
        self.values = values
    }

    /// The number of samples.
    public var count: Int { times.count }

    /// Whether there is no sample.
    public var isEmpty: Bool { times.isEmpty }

    /// Makes room for `count` samples.
    public mutating func reserveCapacity(_ count: Int) {
        times.reserveCapacity(count)
        values.reserveCapacity(count * stream.fields.count)
    }

    /// Adds a sample; `values` has one value for each field, in their order.
    public mutating func append(time: Timestamp, _ values: some Collection<Value>) {
        precondition(values.count == stream.fields.count, "a sample has one value for each field of its stream")
        times.append(time)
        self.values.append(contentsOf: values)
    }

    /// Adds a sample; `values` has one value for each field, in their order.
    ///
    /// The same as the general one, which for an array is several times slower when called from another module.
    public mutating func append(time: Timestamp, _ values: [Value]) {
        precondition(values.count == stream.fields.count, "a sample has one value for each field of its stream")
        times.append(time)
        self.values.append(contentsOf: values)
    }

    /// Adds a sample of three numbers, as sensors with three axes have them, without an array on its way.
    public mutating func append(time: Timestamp, axes: SIMD3<Double>) {
        precondition(stream.fields.count == 3, "a sample has one value for each field of its stream")
        times.append(time)
        values.append(Value(axes.x))
        values.append(Value(axes.y))
        values.append(Value(axes.z))
    }

    /// The values of sample `row`.
    public func sample(_ row: Int) -> ArraySlice<Value> {
        let width = stream.fields.count
        return values[row * width..<(row + 1) * width]
    }

    /// The value of the field at place `field` in sample `row`.
    public func value(row: Int, field: Int) -> Value {
        values[row * stream.fields.count + field]
    }
}
