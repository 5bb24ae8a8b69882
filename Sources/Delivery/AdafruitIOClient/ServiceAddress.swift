/// Where the service's REST interface is, and whether a key may be sent there.
struct ServiceAddress: Sendable {
    /// Scheme, host and port, and a path if there is one; no slash at the end.
    let base: String

    init(_ text: String, insecurePlaintext: Bool) throws(AdafruitIOClientError) {
        // What stands before an @ may be a secret: it is not repeated.
        guard !text.contains("@") else { throw .badAddress("…@" + (text.split(separator: "@").last ?? "")) }
        guard let scheme = text.firstRange(of: "://") else { throw .badAddress(text) }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !rest.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace })
        else { throw .badAddress(text) }
        switch text[..<scheme.lowerBound].lowercased() {
        case "https": break
        case "http":
            guard insecurePlaintext || Self.isLoopback(authority) else { throw .plaintextRefused(String(authority)) }
        default: throw .badAddress(text)
        }
        base = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// Whether the host is this machine, whatever a resolver says: `localhost`, `127.…` or `[::1]`.
    static func isLoopback(_ authority: some StringProtocol) -> Bool {
        if authority.hasPrefix("[") { return authority.hasPrefix("[::1]") && portIsFine(authority.dropFirst(5)) }
        let host = authority.prefix { $0 != ":" }
        guard portIsFine(authority.dropFirst(host.count)) else { return false }
        if host.lowercased() == "localhost" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func portIsFine(_ text: some StringProtocol) -> Bool {
        text.isEmpty || (text.hasPrefix(":") && UInt16(text.dropFirst()) != nil)
    }

    /// The address of a resource; each part of the path is escaped, names and values of the query too.
    func url(_ path: [String], _ query: [(String, String)] = []) -> String {
        var url = base + "/api/v2"
        for part in path { url += "/" + Self.escaped(part) }
        for (index, (name, value)) in query.enumerated() {
            url += (index == 0 ? "?" : "&") + Self.escaped(name) + "=" + Self.escaped(value)
        }
        return url
    }

    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
