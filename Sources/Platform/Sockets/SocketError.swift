internal import Glibc

/// Why a socket could not be opened, bound or connected.
public struct SocketError: Error, Sendable, Hashable {
    /// What was tried.
    public enum Action: String, Sendable {
        /// Making the socket.
        case open
        /// Taking the address and waiting for connections there.
        case listen = "listen on"
        /// Reaching the address.
        case connect = "connect to"
        /// Making the loop.
        case poll
    }

    /// What was tried.
    public var action: Action
    /// On what: an address, or nothing.
    public var address: String
    /// The kernel's number for the reason (`errno`).
    public var code: Int32

    /// Whether the address is taken by another program.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// Whether trying again later may work without anybody changing anything.
    public var isRetriable: Bool {
        [ECONNREFUSED, ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, EMFILE, ENFILE].contains(code)
    }
}

extension SocketError: CustomStringConvertible {
    /// `Cannot listen on 127.0.0.1:1883: Address already in use.`
    public var description: String {
        let place = address.isEmpty ? "a socket" : address
        return "Cannot \(action.rawValue) \(place): \(String(cString: strerror(code)))."
    }
}

/// Why a connection ended.
public enum SocketEnd: Sendable, Hashable {
    /// The peer closed it.
    case closedByPeer
    /// This side closed it.
    case closedHere
    /// The peer did not read, and the write buffer is full.
    case peerTooSlow
    /// The kernel's number for the reason (`errno`).
    case failed(Int32)
}
