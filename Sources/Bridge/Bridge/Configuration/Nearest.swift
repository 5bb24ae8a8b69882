/// Finds the word that somebody probably meant.
enum Nearest {
    /// The closest of `words` by edits, when at most a third of its letters differ.
    static func word(to typed: String, among words: [String]) -> String? {
        let best = words.map { (word: $0, edits: edits(typed, $0)) }.min { $0.edits < $1.edits }
        guard let best, best.edits <= max(2, best.word.count / 3) else { return nil }
        return best.word
    }

    /// The Levenshtein distance.
    private static func edits(_ left: String, _ right: String) -> Int {
        let (a, b) = (Array(left.utf8), Array(right.utf8))
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let replaced = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
