internal import Diagnostics
internal import Samples

/// What is kept of one field's samples in one window: a few numbers, however many samples there are.
struct Accumulator: Sendable {
    /// How many samples had a value that the reduction can use.
    private(set) var count = 0
    private var sum = 0.0
    private var compensation = 0.0
    private var mean = 0.0
    private var squares = 0.0
    private var extreme = 0.0
    private var first: Value = .missing
    private var firstTime = Int64.max
    /// The value with the latest time.
    private(set) var last: Value = .missing
    private var lastTime = Int64.min
    private var sketch: MedianSketch?

    /// Takes in `column` of the rows `rows`, `width` values a row.
    mutating func add(
        _ values: UnsafeBufferPointer<Value>,
        _ times: UnsafeBufferPointer<Timestamp>,
        rows: Range<Int>,
        width: Int,
        column: Int,
        by reduction: Reduction
    ) {
        switch reduction {
        case .last:
            for row in rows where times[row].nanoseconds >= lastTime {
                keepLast(values[row * width + column], times[row])
            }
        case .count:
            for row in rows where values[row * width + column] != .missing { count += 1 }
        case .mean, .sum:
            for row in rows { number(values[row * width + column]).map { addToSum($0) } }
        case .min:
            for row in rows {
                guard let number = number(values[row * width + column]) else { continue }
                extreme = count == 0 ? number : Swift.min(extreme, number)
                count += 1
            }
        case .max:
            for row in rows {
                guard let number = number(values[row * width + column]) else { continue }
                extreme = count == 0 ? number : Swift.max(extreme, number)
                count += 1
            }
        case .median:
            for row in rows {
                guard let number = number(values[row * width + column]) else { continue }
                if sketch == nil { sketch = MedianSketch() }
                sketch?.add(number)
                count += 1
            }
        case .rms:
            for row in rows {
                guard let number = number(values[row * width + column]) else { continue }
                count += 1
                squares += (number * number - squares) / Double(count)
            }
        case .stddev:
            for row in rows { number(values[row * width + column]).map { addToVariance($0) } }
        case .delta:
            for row in rows {
                let value = values[row * width + column]
                guard number(value) != nil else { continue }
                if times[row].nanoseconds < firstTime { (first, firstTime) = (value, times[row].nanoseconds) }
                if times[row].nanoseconds >= lastTime { keepLast(value, times[row]) }
            }
        }
    }

    /// The window's value, `missing` when there is none; `previous` is the last value of the window before.
    func result(of reduction: Reduction, previous: Value) -> Value {
        guard count > 0 else { return .missing }
        return switch reduction {
        case .last: last
        case .count: .integer(Int64(count))
        case .mean: Value((sum + compensation) / Double(count))
        case .sum: Value(sum + compensation)
        case .min, .max: Value(extreme)
        case .median: sketch?.median.map { Value($0) } ?? .missing
        case .rms: Value(squares.squareRoot())
        case .stddev: Value((squares / Double(count)).squareRoot())
        case .delta: difference(from: previous == .missing ? first : previous)
        }
    }

    private func number(_ value: Value) -> Double? {
        guard let number = value.number, number.isFinite else { return nil }
        return number
    }

    private mutating func keepLast(_ value: Value, _ time: Timestamp) {
        if case .missing = value { return }
        if case .real(let number) = value, !number.isFinite { return }
        count += 1
        last = value
        lastTime = time.nanoseconds
    }

    /// Neumaier's sum: the error of each addition is kept and added at the end.
    private mutating func addToSum(_ number: Double) {
        count += 1
        let total = sum + number
        if sum.magnitude >= number.magnitude {
            compensation += (sum - total) + number
        } else {
            compensation += (number - total) + sum
        }
        sum = total
    }

    /// Welford's recurrence: stable where the difference of sums is not.
    private mutating func addToVariance(_ number: Double) {
        count += 1
        let before = number - mean
        mean += before / Double(count)
        squares += before * (number - mean)
    }

    private func difference(from start: Value) -> Value {
        if case .integer(let end) = last, case .integer(let start) = start {
            let (difference, overflow) = end.subtractingReportingOverflow(start)
            if !overflow { return .integer(difference) }
        }
        guard let end = last.number, let start = start.number else { return .missing }
        return Value(end - start)
    }
}
