internal import Diagnostics

/// What is to go wrong now. Asked at the places where it can; safe from any thread.
public final class Faults: Sendable {
    private struct Entry {
        var fault: Fault
        var uses = 0
    }

    private let entries = Guarded<[Entry]>([])

    /// Makes a list of faults.
    public init(_ faults: [Fault] = []) {
        for fault in faults { add(fault) }
    }

    /// Adds a fault; one of the same kind is replaced.
    public func add(_ fault: Fault) {
        entries.withLock { entries in
            entries.removeAll { $0.fault.kind == fault.kind }
            entries.append(Entry(fault: fault))
        }
    }

    /// Forgets all faults.
    public func clear() {
        entries.withLock { $0 = [] }
    }

    /// All faults as they stand.
    public var all: [Fault] { entries.withLock { $0.map(\.fault) } }

    func connackCode() -> UInt8? {
        use { fault, uses in
            guard case .connack(let code, let count) = fault, uses <= count ?? .max else { return nil }
            return code
        }
    }

    func dropsAfterPuback() -> Bool {
        use { fault, uses in if case .dropAfterPuback(let every) = fault { uses % every == 0 } else { nil } } ?? false
    }

    func dropsPuback() -> Bool {
        use { fault, uses in if case .pubackDrop(let every) = fault { uses % every == 0 } else { nil } } ?? false
    }

    func losesAnswer() -> Bool {
        use { fault, uses in if case .lostAnswer(let every) = fault { uses % every == 0 } else { nil } } ?? false
    }

    func restRefusal() -> (status: Int, retryAfter: Int?)? {
        use { fault, uses in
            guard case .rest(let status, let retryAfter, let count) = fault, uses <= count ?? .max else { return nil }
            return (status, retryAfter)
        }
    }

    var pubackDelay: Duration? {
        find { if case .pubackDelay(let delay) = $0 { .milliseconds(delay) } else { nil } }
    }

    var restDelay: Duration? {
        find { if case .restSlow(let delay) = $0 { .milliseconds(delay) } else { nil } }
    }

    var silentAfter: Int? { find { if case .halfOpen(let after) = $0 { after } else { nil } } }

    var closedAfter: Int? { find { if case .close(let after) = $0 { after } else { nil } } }

    var cutAfter: Duration? { find { if case .keepAliveCut(let length) = $0 { .seconds(length) } else { nil } } }

    var isEchoedTwice: Bool { find { $0 == .echoTwice ? true : nil } ?? false }

    var isBackdatedLast: Bool { find { $0 == .backdatedLast ? true : nil } ?? false }

    var quotesMessages: Bool? { find { if case .quotedMessages(let isOn) = $0 { isOn } else { nil } } }

    private func find<Result: Sendable>(_ body: (Fault) -> Result?) -> Result? {
        entries.withLock { entries in
            for entry in entries {
                if let result = body(entry.fault) { return result }
            }
            return nil
        }
    }

    /// Counts a use of each fault that `body` knows, and gives its answer for that use.
    private func use<Result: Sendable>(_ body: (Fault, Int) -> Result?) -> Result? {
        entries.withLock { entries in
            for index in entries.indices where body(entries[index].fault, 1) != nil {
                entries[index].uses += 1
                return body(entries[index].fault, entries[index].uses)
            }
            return nil
        }
    }
}

extension Fault {
    fileprivate var kind: Int {
        switch self {
        case .connack: 0
        case .ban: 1
        case .throttle: 2
        case .dropAfterPuback: 3
        case .pubackDelay: 4
        case .pubackDrop: 5
        case .halfOpen: 6
        case .close: 7
        case .echoTwice: 8
        case .rest: 9
        case .restSlow: 10
        case .lostAnswer: 11
        case .backdatedLast: 12
        case .keepAliveCut: 13
        case .quotedMessages: 14
        }
    }
}
