internal import Synchronization

/// A number that only grows, safe from any thread.
public final class Counter: Sendable {
    private let number: Atomic<Int>

    /// Makes a counter that starts at `start`.
    public init(_ start: Int = 0) {
        number = Atomic(start)
    }

    /// Adds `amount`.
    public func add(_ amount: Int = 1) {
        number.wrappingAdd(amount, ordering: .relaxed)
    }

    /// The number now.
    public var value: Int { number.load(ordering: .relaxed) }
}
