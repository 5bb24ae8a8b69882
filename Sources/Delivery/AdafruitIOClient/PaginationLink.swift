/// The `Link` header of data lists.
///
/// The service writes `<this page>;rel="next", <next page>`: the parameter stands with the wrong address. Both that form
/// and the right one, `<next page>; rel="next"`, are read. Only the token in `before` is taken from it: a key is never
/// sent to an address that an answer names.
enum PaginationLink {
    /// The token of the next page, as it stands in the address; nil when there is none.
    static func next(in header: String, current: String?) -> String? {
        let entries = header.split(separator: "<", omittingEmptySubsequences: false).dropFirst().compactMap {
            entry -> (url: Substring, rest: Substring)? in
            guard let end = entry.firstIndex(of: ">") else { return nil }
            return (entry[..<end], entry[entry.index(after: end)...])
        }
        guard let marked = entries.firstIndex(where: { $0.rest.contains(#"rel="next""#) }) else { return nil }
        let last = entries.indices.contains(marked + 1) && !entries[marked + 1].rest.contains("rel=")
        let token = before(in: entries[last ? marked + 1 : marked].url)
        // The marked address alone may be this very page: then it is the last.
        return token == current ? nil : token
    }

    private static func before(in url: Substring) -> String? {
        guard let mark = url.firstIndex(of: "?") else { return nil }
        for field in url[url.index(after: mark)...].split(separator: "&") where field.hasPrefix("before=") {
            return unescaped(field.dropFirst(7))
        }
        return nil
    }

    /// Resolves escapes; nil when one is broken or the token is longer than any that makes sense.
    private static func unescaped(_ text: Substring) -> String? {
        guard !text.isEmpty, text.utf8.count <= 1024 else { return nil }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                return nil
            }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
