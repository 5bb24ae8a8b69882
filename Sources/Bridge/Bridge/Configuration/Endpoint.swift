/// Where a service listens: `mqtts://io.adafruit.com:8883`, `http://127.0.0.1:8080`, `http://[::1]:8080`.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// `mqtt`, `mqtts`, `http` or `https`.
    public var scheme: String
    /// A name or an address, without brackets.
    public var host: String
    /// The port.
    public var port: Int

    private static let ports = ["mqtt": 1883, "mqtts": 8883, "http": 80, "https": 443]

    /// Takes a URL of one of `schemes` with nothing after the port; nil when it is something else.
    public init?(_ text: String, schemes: [String]) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        let scheme = text[..<colon].lowercased()
        var rest = text[colon...].dropFirst(3)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard schemes.contains(scheme), let standard = Endpoint.ports[scheme] else { return nil }
        var port = standard
        var host = rest
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(host.count)
        }
        if !rest.isEmpty {
            guard rest.hasPrefix(":"), let number = Int(rest.dropFirst()), (1...65535).contains(number) else {
                return nil
            }
            port = number
        }
        guard !host.isEmpty, !host.contains(where: { "/@?# \\".contains($0) || $0.isWhitespace }) else { return nil }
        self.scheme = scheme
        self.host = String(host)
        self.port = port
    }

    /// A place to listen on.
    init(_ address: Configuration.ListenAddress) {
        scheme = "http"
        host = address.host
        port = address.port
    }

    /// Whether the connection is encrypted.
    public var isSecure: Bool { scheme == "mqtts" || scheme == "https" }

    /// Whether it is this machine.
    public var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    /// The URL.
    public var description: String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
