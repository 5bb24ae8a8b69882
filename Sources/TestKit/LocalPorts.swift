internal import Diagnostics
internal import FoundationEssentials
internal import Glibc

/// Ports on the loopback address.
public enum LocalPorts {
    private static let given = Guarded<Set<Int>>([])

    /// A port on 127.0.0.1 that nobody listens on, and that stays free while the program that had it is restarted.
    ///
    /// It is none of those that the kernel hands out for port 0 and to clients, nor one that this process was given
    /// before. A program that somebody else started may take it all the same: where it matters, be ready to try again.
    public static func free() -> Int {
        let range = 10_000..<max(firstOfKernel, 12_000)
        for _ in 0..<10_000 {
            let port = Int.random(in: range)
            if given.withLock({ $0.insert(port).inserted }), canBind(port) { return port }
        }
        preconditionFailure("no free port on 127.0.0.1 in \(range)")
    }

    private static var firstOfKernel: Int {
        let text = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        return text.flatMap { $0.split(whereSeparator: \.isWhitespace).first }.flatMap { Int($0) } ?? 32_768
    }

    private static func canBind(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        precondition(descriptor >= 0, "no socket to be had")
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withSocketAddress(&address) { bind(descriptor, $0, $1) } == 0
    }

    /// Whether somebody accepts connections on 127.0.0.1 at `port`.
    public static func accepts(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withSocketAddress(&address) { connect(descriptor, $0, $1) } == 0
    }

    /// As `accept`, with a descriptor that no child process inherits.
    ///
    /// A child that holds a connection keeps its other end from seeing it close, and children of exit tests inherit
    /// what is not close-on-exec.
    public static func accept(_ listener: Int32) -> Int32 { GNUExtensions.accept(listener) }

    static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    static func withSocketAddress<Result>(
        _ address: inout sockaddr_in,
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    static func port(of descriptor: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
