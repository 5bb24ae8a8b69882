import Foundation
import Glibc

/// nghttpd, an HTTP/2 server that others wrote, on a free port.
final class ForeignServer: @unchecked Sendable {
    // Sendable: `process` is set once in `init` and ended by whoever holds the last reference or calls `stop`.
    let port: Int
    private let process = Process()

    init(_ root: String, certificate: String, key: String) async throws {
        port = Self.freePort()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["nghttpd", "-d", root, "\(port)", key, certificate]
        process.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It says nothing when it is ready: ask until it accepts, or is gone.
        while process.isRunning, !Self.accepts(port) { try await Task.sleep(for: .milliseconds(10)) }
    }

    deinit {
        stop()
    }

    func stop() {
        if process.isRunning { process.terminate() }
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
