internal import Diagnostics

/// Counts what a full buffer dropped.
final class DropCounter: Sendable {
    private let count = Guarded(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}
