/// The target of a request line, split first and decoded then, so that `%2F` is no slash.
struct RequestTarget: Sendable {
    var segments: [String]
    var query: [(String, String)]

    /// Nil when it is no path, an escape is broken, or a segment is `.` or `..`.
    init?(_ raw: String) {
        var text = raw[...]
        if !text.hasPrefix("/") {
            // The absolute form that proxies use: `http://host/path`.
            guard let scheme = text.firstRange(of: "://") else { return nil }
            let rest = text[scheme.upperBound...]
            text = rest.firstIndex { $0 == "/" || $0 == "?" }.map { rest[$0...] } ?? "/"
        }
        let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        segments = []
        for part in Router.segments(of: halves[0]) {
            guard let segment = PercentCoding.decode(part), segment != ".", segment != ".." else { return nil }
            segments.append(segment)
        }
        guard let query = PercentCoding.fields(halves.count > 1 ? halves[1] : "") else { return nil }
        self.query = query
    }

    var path: String { "/" + segments.joined(separator: "/") }
}
