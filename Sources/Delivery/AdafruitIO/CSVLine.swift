internal import DataPoints

/// One line of comma-separated values, as Adafruit IO's CSV topics carry it.
enum CSVLine {
    /// The fields of `text`; nil when a quote is not closed or something follows it.
    ///
    /// Spaces after commas are not part of a field, nor is a line feed at the end. A field in double quotes may hold
    /// commas and line feeds, and `""` for a quote.
    static func fields(_ text: String) -> [String]? {
        var fields: [String] = []
        var rest = Substring(text)
        while let last = rest.last, last.isNewline { rest.removeLast() }
        while true {
            rest = rest.drop { $0 == " " }
            if rest.first == "\"" {
                guard let quoted = takeQuoted(&rest) else { return nil }
                fields.append(quoted)
                rest = rest.drop { $0 == " " }
                guard rest.isEmpty || rest.first == "," else { return nil }
            } else {
                let field = rest.prefix { $0 != "," }
                fields.append(String(field.trimmingSpaces))
                rest = rest[field.endIndex...]
            }
            guard rest.first == "," else { return fields }
            rest.removeFirst()
        }
    }

    /// Takes a field in double quotes, whose first quote is the first character; nil when it is not closed.
    private static func takeQuoted(_ rest: inout Substring) -> String? {
        var field = ""
        rest.removeFirst()
        while let character = rest.popFirst() {
            if character != "\"" {
                field.append(character)
            } else if rest.first == "\"" {
                field.append(character)
                rest.removeFirst()
            } else {
                return field
            }
        }
        return nil
    }

    /// The lines of `text`, cut at line feeds outside of quotes, without empty ones.
    static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character.isNewline, !isQuoted {
                lines.append(line)
                line = ""
            } else {
                line.append(character)
            }
        }
        lines.append(line)
        return lines.filter { !Substring($0).trimmingSpaces.isEmpty }
    }

    /// The fields as one line; those that need it are in double quotes.
    static func text(_ fields: [String]) -> String {
        fields.map { field in
            let needsQuotes =
                field.contains { ",\"".contains($0) || $0.isNewline } || field.first == " " || field.last == " "
            guard needsQuotes else { return field }
            return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
                + "\""
        }.joined(separator: ",")
    }

    /// The fields of a place: three, empty where nothing is known.
    static func place(_ location: Location?) -> [String] {
        guard let location else { return ["", "", ""] }
        return [location.latitude, location.longitude, location.elevation].map { number in
            number.flatMap { CanonicalText.number($0) } ?? ""
        }
    }

    /// The place in the fields `lat`, `lon`, `ele`; nil when they are something else, no place when they are empty.
    static func location(_ fields: ArraySlice<String>) -> (place: Location?, Void)? {
        guard fields.count <= 3 else { return nil }
        if fields.allSatisfy(\.isEmpty) { return (nil, ()) }
        let numbers = fields.map { $0.isEmpty ? nil : FeedPayload.number(in: $0) }
        guard zip(fields, numbers).allSatisfy({ $0.isEmpty || $1 != nil }), numbers.count >= 2,
            let latitude = numbers[0], let longitude = numbers[1]
        else { return nil }
        let elevation = numbers.count > 2 ? numbers[2] : nil
        return (Location(latitude: latitude, longitude: longitude, elevation: elevation), ())
    }
}
