/// Names for things that may have the same one: the second `cpu` is `cpu_2`.
public struct UniqueNames {
    private var used: Set<Name> = []

    /// Starts with no name taken.
    public init() {}

    /// `prefix` and the mapped `text`, with a number when it is taken.
    public mutating func name(_ prefix: String, _ text: String) -> Name {
        let whole = Name(mapping: prefix + text)
        var candidate = whole
        var number = 2
        while !used.insert(candidate).inserted {
            let suffix = "_\(number)"
            candidate = Name(mapping: String(whole.text.prefix(64 - suffix.utf8.count)) + suffix)
            number += 1
        }
        return candidate
    }
}
