import Glibc
import TestKit

/// nghttpd, an HTTP/2 server that others wrote, on a free port.
final class ForeignServer: Sendable {
    let port: Int
    private let process: ChildProcess

    init(_ root: String, certificate: String, key: String) async throws {
        let port = Self.freePort()
        let process = try ChildProcess("nghttpd", ["-d", root, "\(port)", key, certificate])
        self.port = port
        self.process = process
        // It says nothing when it is ready: ask until it accepts, or is gone.
        try await until("nghttpd accepts") { !process.isRunning || Self.accepts(port) }
    }

    func stop() {
        process.signal()
    }

    private static func freePort() -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, length)
                getsockname(descriptor, $0, &length)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func accepts(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
