import Bridge

extension Invocation {
    /// `feedbridge replay FILE --derive ...`.
    static func replay(_ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        var request = ReplayRequest()
        request.derivations = try list(&reader, "--derive")
        request.columns = try reader.option("--columns").map { words($0) }
        request.format = try reader.option("--format")
        if let text = try reader.option("--rate") {
            guard let rate = Double(text), rate > 0, rate.isFinite else {
                throw UsageError(message: "--rate must be a number above 0, not \"\(text)\"")
            }
            request.rate = rate
        }
        request.accelerationUnit = try choice(&reader, "--acc-unit", ["g", "m/s2", "raw"])
        request.gyroscopeUnit = try choice(&reader, "--gyro-unit", ["deg/s", "rad/s"])
        request.magneticUnit = try choice(&reader, "--mag-unit", ["uT", "gauss"])
        request.hasPhoneSign = try choice(&reader, "--sign", ["iphone", "android"]) == "iphone"
        while let option = try reader.option("--option") {
            guard let equals = option.firstIndex(of: "=") else {
                throw UsageError(message: "--option takes KEY=VALUE, not \"\(option)\"")
            }
            request.settings.append((String(option[..<equals]), String(option[option.index(after: equals)...])))
        }
        request.isSummaryOnly = try reader.flag("--summary")
        request.file = try reader.word("a FILE")
        guard !request.derivations.isEmpty else {
            throw UsageError(message: "feedbridge replay needs --derive KIND, such as steps or attitude")
        }
        return ReplayCommand(request)
    }

    private static func list(_ reader: inout ArgumentReader, _ name: String) throws(UsageError) -> [String] {
        var all: [String] = []
        while let text = try reader.option(name) { all += words(text) }
        return all
    }

    private static func words(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func choice(
        _ reader: inout ArgumentReader,
        _ name: String,
        _ words: [String]
    ) throws(UsageError) -> String? {
        guard let text = try reader.option(name) else { return nil }
        guard words.contains(text) else {
            throw UsageError(message: "\(name) must be one of \(words.joined(separator: ", ")), not \"\(text)\"")
        }
        return text
    }
}
