extension TOMLTable {
    /// A key that nobody knows, with the known one that was probably meant.
    public struct UnknownKey: Sendable, Hashable {
        /// The entry.
        public var entry: Entry
        /// The nearest known key that the table does not set already; nil when none is near.
        public var nearest: String?
    }

    /// The entries whose keys are not among `known`, in the order of the text.
    public func unknownKeys(known: [String]) -> [UnknownKey] {
        let free = known.filter { entry($0) == nil }
        return entries.filter { !known.contains($0.key) }.map {
            UnknownKey(entry: $0, nearest: TOMLTable.nearest(to: $0.key, among: free))
        }
    }

    /// The word among `words` that is most probably meant by `word`; nil when none is near enough.
    public static func nearest(to word: String, among words: [String]) -> String? {
        let folded = fold(word)
        let limit = max(1, folded.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in words {
            let distance = distance(folded, fold(candidate))
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.word
    }

    /// Lower case, and dashes, blanks and underscores the same: `Poll-Every` is `poll_every`.
    private static func fold(_ word: String) -> [Character] {
        word.lowercased().prefix(64).map { $0 == "-" || $0 == " " ? "_" : $0 }
    }

    /// How many characters have to be put in, left out, changed, or swapped with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column] + (character == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
