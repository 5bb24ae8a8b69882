/// Why a call failed, or the bus cannot be used.
public enum BusError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no bus, or it does not let us in.
    case notConnected(String)
    /// The bus went away, or `close` was called.
    case closed
    /// The service answered with an error: its name and its sentence.
    case refused(name: String, message: String)
    /// A call with these values cannot be made.
    case invalidCall(String)

    /// What failed and why.
    public var description: String {
        switch self {
        case .notConnected(let reason):
            "cannot connect to the system bus: \(reason). Check that dbus is installed and runs."
        case .closed: "the connection to the system bus has ended"
        case .refused(let name, let message): "\(message) (\(name))"
        case .invalidCall(let reason): "the call cannot be made: \(reason)"
        }
    }

    /// The name of the error that a service answered with.
    public var name: String? {
        if case .refused(let name, _) = self { name } else { nil }
    }
}
