/// Why the arguments cannot be used: one sentence that names the option and the remedy.
struct UsageError: Error {
    let message: String
}

/// Takes options and words from the arguments of one command, in any order.
struct ArgumentReader {
    private var rest: [String]
    private var known: [String] = []
    private let command: String

    init(_ arguments: some Sequence<String>, command: String) {
        rest = Array(arguments)
        self.command = command
    }

    /// Whether `--name` is there.
    mutating func flag(_ name: String) throws(UsageError) -> Bool {
        known.append(name)
        guard let place = place(of: name) else { return false }
        guard rest[place] == name else { throw UsageError(message: "\(name) takes no value") }
        rest.remove(at: place)
        return true
    }

    /// The value of `--name VALUE` or `--name=VALUE`, if it is there.
    mutating func option(_ name: String) throws(UsageError) -> String? {
        known.append(name)
        guard let place = place(of: name) else { return nil }
        let argument = rest.remove(at: place)
        if argument != name { return String(argument.dropFirst(name.count + 1)) }
        guard place < rest.count, !rest[place].hasPrefix("--") else {
            throw UsageError(message: "\(name) needs a value")
        }
        return rest.remove(at: place)
    }

    /// The value of `--name`, which must be there.
    mutating func required(_ name: String, _ what: String) throws(UsageError) -> String {
        guard let value = try option(name) else {
            throw UsageError(message: "\(command) needs \(name) \(what)")
        }
        return value
    }

    /// The next word that is no option. Options must have been taken before.
    mutating func word(_ what: String) throws(UsageError) -> String {
        guard let word = try optionalWord() else { throw UsageError(message: "\(command) needs \(what)") }
        return word
    }

    /// The next word that is no option, if there is one.
    mutating func optionalWord() throws(UsageError) -> String? {
        if let unknown = rest.first(where: isOption) { throw unknownOption(unknown) }
        return rest.isEmpty ? nil : rest.removeFirst()
    }

    /// Fails when something is left.
    func finish() throws(UsageError) {
        if let unknown = rest.first(where: isOption) { throw unknownOption(unknown) }
        if let extra = rest.first { throw UsageError(message: "\(command) does not take \"\(extra)\"") }
    }

    private func place(of name: String) -> Int? {
        rest.firstIndex { $0 == name || $0.hasPrefix("\(name)=") }
    }

    private func isOption(_ argument: String) -> Bool {
        argument.hasPrefix("--") && argument.count > 2
    }

    private func unknownOption(_ argument: String) -> UsageError {
        let options = known.isEmpty ? "it takes none" : "it takes \(known.sorted().joined(separator: ", "))"
        return UsageError(message: "\(command) has no option \(argument.prefix { $0 != "=" }); \(options)")
    }
}
