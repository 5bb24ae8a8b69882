import TestKit

/// nghttpd, an HTTP/2 server that others wrote, on a free port.
final class ForeignServer: Sendable {
    struct NoFreePort: Error {}

    let port: Int
    private let process: ChildProcess

    init(_ root: String, certificate: String, key: String) async throws {
        for _ in 0..<10 {
            let port = LocalPorts.free()
            // stdbuf: it says where it listens when it does, and not when it ends.
            let process = try ChildProcess(
                "stdbuf",
                ["-oL", "nghttpd", "--verbose", "-d", root, "\(port)", key, certificate]
            )
            try await until("nghttpd listens") { !process.isRunning || process.output.contains("listen 0.0.0.0:") }
            guard process.isRunning else { continue }
            self.port = port
            self.process = process
            return
        }
        throw NoFreePort()
    }

    func stop() {
        process.signal()
    }
}
