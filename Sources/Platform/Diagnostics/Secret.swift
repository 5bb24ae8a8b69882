/// A text that never prints itself: a key, a password, a token.
public struct Secret: Sendable, Equatable {
    private let text: String

    /// Wraps `text`.
    public init(_ text: String) {
        self.text = text
    }

    /// The text itself, for the one place that must hand it to a library or a peer.
    public func reveal() -> String { text }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { text.isEmpty }

    /// Compares without telling by its duration how much was equal.
    public static func == (left: Secret, right: Secret) -> Bool {
        let (a, b) = (Array(left.text.utf8), Array(right.text.utf8))
        var difference = a.count ^ b.count
        for index in 0..<min(a.count, b.count) {
            difference |= Int(a[index] ^ b[index])
        }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Dots, whatever is inside.
    public var description: String { "•••" }

    /// Dots, whatever is inside.
    public var debugDescription: String { "•••" }

    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
