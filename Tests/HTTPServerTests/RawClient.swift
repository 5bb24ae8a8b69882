import Diagnostics
import Foundation

/// A client that sends exactly the bytes it is told, over TCP or a Unix socket.
actor RawClient {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    nonisolated private let executor = BlockingExecutor(label: "raw-client")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var descriptor: Int32 = -1
    private var pending: [UInt8] = []

    init(port: Int) async throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure(description: "connect: \(String(cString: strerror(errno)))") }
        limitWaits()
    }

    init(path: String) async throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw Failure(description: "connect: \(String(cString: strerror(errno)))") }
        limitWaits()
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// A test fails after a while instead of hanging.
    private func limitWaits() {
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends everything; says whether the peer took it.
    @discardableResult
    func send(_ text: String) -> Bool {
        send(bytes: Array(text.utf8))
    }

    @discardableResult
    func send(bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    func close() {
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Closes with a reset instead of a polite end.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Everything until the server closes.
    func readToEnd() throws -> String {
        while try receive() {}
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }

    /// Everything up to and including `mark`.
    func read(through mark: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let range = pending.firstRange(of: mark) {
                defer { pending.removeFirst(range.upperBound) }
                return String(decoding: pending[..<range.upperBound], as: UTF8.self)
            }
            guard try receive() else {
                let got = String(decoding: pending, as: UTF8.self)
                throw Failure(description: "the server closed after \(got.debugDescription)")
            }
        }
    }

    /// One response with a `Content-Length`.
    func readResponse() throws -> (head: String, body: String) {
        let head = try read(through: "\r\n\r\n")
        let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        let length = line.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        while pending.count < length, try receive() {}
        defer { pending.removeFirst(min(length, pending.count)) }
        return (head, String(decoding: pending.prefix(length), as: UTF8.self))
    }

    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw Failure(description: "recv: \(String(cString: strerror(errno)))") }
        pending += buffer.prefix(count)
        return count > 0
    }
}
