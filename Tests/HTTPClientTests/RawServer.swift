import Diagnostics
import Foundation
import TestKit

/// A server that sends exactly the bytes it is told; each connection is served by `script` on a thread of its own.
final class RawServer: Sendable {
    let port: Int
    private let descriptor: Int32
    /// How many connections have been accepted.
    let accepted = Counter()

    init(_ script: @escaping @Sendable (RawPeer) -> Void) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
                listen(descriptor, 16)
                getsockname(descriptor, $0, &length)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.descriptor = descriptor
        // Threads, not a concurrent queue: its workers are those of Swift's cooperative pool.
        Thread.detachNewThread { [accepted] in
            while true {
                let peer = LocalPorts.accept(descriptor)
                guard peer >= 0 else { break }
                accepted.add()
                Thread.detachNewThread { script(RawPeer(peer)) }
            }
            close(descriptor)
        }
    }

    /// The port on the other side of a TCP socket over IPv4; nil when the descriptor is none.
    static func port(ofPeer descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard code == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// One connection of a `RawServer`, closed with its value. It is used by one thread at a time: its script's.
final class RawPeer {
    private let descriptor: Int32
    private var pending: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    /// A request with its body; nil when the client has closed.
    func readRequest() -> String? {
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let range = pending.firstRange(of: mark) {
                let head = String(decoding: pending[..<range.upperBound], as: UTF8.self)
                let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                let length = line.flatMap { Int($0.dropFirst(16)) } ?? 0
                while pending.count < range.upperBound + length {
                    guard receive() else { return nil }
                }
                let whole = pending[..<(range.upperBound + length)]
                defer { pending.removeFirst(whole.count) }
                return String(decoding: whole, as: UTF8.self)
            }
            guard receive() else { return nil }
        }
    }

    @discardableResult
    func send(_ text: String) -> Bool {
        send(bytes: Array(text.utf8))
    }

    @discardableResult
    func send(bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits until the client closes.
    func waitForEnd() {
        while receive() {}
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        pending += buffer.prefix(count)
        return true
    }
}
