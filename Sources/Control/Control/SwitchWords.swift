internal import FastJSON

/// The words that mean ON and OFF on the control feed, and the two that the bridge writes there.
public struct SwitchWords: Sendable, Hashable {
    /// Why words cannot be used.
    public enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// The word would mean both.
        case meansBoth(String)
        /// The word is empty or white space.
        case empty

        /// One sentence with the remedy.
        public var description: String {
            switch self {
            case .meansBoth(let word): "the word \"\(word)\" would mean both ON and OFF; take it out of one list"
            case .empty: "a word is empty; take it out"
            }
        }
    }

    /// What the bridge writes for ON: the first own word, else `ON`. A dashboard's toggle compares letter by letter.
    public let on: String
    /// What the bridge writes for OFF: the first own word, else `OFF`.
    public let off: String
    private let meanings: [String: SwitchState]

    /// The built-in words alone.
    public init() {
        on = "ON"
        off = "OFF"
        meanings = SwitchWords.builtIn
    }

    /// The built-in words and own ones.
    public init(on ownOn: [String], off ownOff: [String]) throws(Problem) {
        var meanings = SwitchWords.builtIn
        for (words, state) in [(ownOn, SwitchState.on), (ownOff, .off)] {
            for word in words {
                let folded = SwitchWords.fold(word)
                guard !folded.isEmpty else { throw .empty }
                guard meanings.updateValue(state, forKey: folded) != state.opposite else { throw .meansBoth(word) }
            }
        }
        self.meanings = meanings
        on = ownOn.first.map(SwitchWords.trim) ?? "ON"
        off = ownOff.first.map(SwitchWords.trim) ?? "OFF"
    }

    /// What the bridge writes for `state`.
    public func written(_ state: SwitchState) -> String { state == .on ? on : off }

    /// What a value of the feed means; nil when it is none of the words, plain, quoted, or in the service's JSON or CSV.
    public func meaning(of text: String) -> SwitchState? { meaning(of: text, depth: 0) }

    private func meaning(of text: String, depth: Int) -> SwitchState? {
        guard depth < 4, text.utf8.count <= 4096 else { return nil }
        let trimmed = SwitchWords.trim(text)
        if let state = meanings[SwitchWords.fold(trimmed)] { return state }
        switch trimmed.utf8.first {
        case UInt8(ascii: "{"):
            guard let object = try? JSON.parse(trimmed) else { return nil }
            return (object["value"] ?? object["last_value"]).flatMap { meaning(of: $0, depth: depth + 1) }
        case UInt8(ascii: "\""):
            if let string = (try? JSON.parse(trimmed))?.string { return meaning(of: string, depth: depth + 1) }
        case UInt8(ascii: "'"):
            if trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "'") {
                return meaning(of: String(trimmed.dropFirst().dropLast()), depth: depth + 1)
            }
        default: break
        }
        return SwitchWords.valueOfCSV(trimmed).flatMap { meaning(of: $0, depth: depth + 1) }
    }

    private func meaning(of value: JSON, depth: Int) -> SwitchState? {
        switch value {
        case .string(let text): meaning(of: text, depth: depth)
        case .bool(let flag): meanings[flag ? "true" : "false"]
        case .number(let number): number.int64.flatMap { meanings[String($0)] }
        default: nil
        }
    }

    private static let builtIn: [String: SwitchState] = [
        "on": .on, "1": .on, "true": .on, "yes": .on, "start": .on,
        "off": .off, "0": .off, "false": .off, "no": .off, "stop": .off,
    ]

    private static func fold(_ word: String) -> String { trim(word).lowercased() }

    /// Without white space and control characters at both ends: some clients send a NUL.
    static func trim(_ text: String) -> String {
        func isBlank(_ character: Unicode.Scalar) -> Bool {
            character.properties.isWhitespace || character.value < 0x20 || character.value == 0x7F
        }
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(scalars[first...last])
    }

    /// The value of `value,lat,lon,ele`, perhaps quoted with `""` for a quote; nil when the text is not of that form.
    private static func valueOfCSV(_ text: String) -> String? {
        var value = ""
        var rest = text[...]
        if rest.first == "\"" {
            rest = rest.dropFirst()
            while let quote = rest.firstIndex(of: "\"") {
                value += rest[..<quote]
                rest = rest[rest.index(after: quote)...]
                guard rest.first == "\"" else { break }
                value += "\""
                rest = rest.dropFirst()
            }
        } else {
            value = String(rest.prefix { $0 != "," })
            rest = rest.dropFirst(value.count)
        }
        guard rest.first == "," else { return nil }
        let numbers = rest.dropFirst().split(separator: ",", omittingEmptySubsequences: false).map {
            trim(String($0))
        }
        return numbers.count <= 3 && numbers.allSatisfy { $0.isEmpty || Double($0) != nil } ? value : nil
    }
}
