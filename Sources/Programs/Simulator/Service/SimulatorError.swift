public import HTTPServer
public import Sockets

/// Why the simulator did not start, or does not take what it was given.
public enum SimulatorError: Error, Sendable {
    /// The data could not be opened.
    case store(StoreError, file: String?)
    /// A port could not be opened; the words name the option to change.
    case socket(SocketError, option: String)
    /// The HTTP door could not be opened; the words name the option to change.
    case http(HTTPServerError, option: String)
    /// A key file cannot be used.
    case keyFile(String, reason: String, remedy: String)
    /// A fault or an option is not understood.
    case notUnderstood(String, reason: String)
}

extension SimulatorError: CustomStringConvertible {
    /// What failed, on what, why, and what to do.
    public var description: String {
        switch self {
        case .store(let error, let file):
            "Cannot open the data\(file.map { " in \($0)" } ?? ""): \(error). Give another file with --data, or none."
        case .socket(let error, let option): "\(error) Give another port with \(option), or 0 for a free one."
        case .http(let error, let option): "\(error) Give another port with \(option), or 0 for a free one."
        case .keyFile(let file, let reason, let remedy): "Cannot use the key file \(file): \(reason). \(remedy)"
        case .notUnderstood(let text, let reason): "Cannot understand \"\(text)\": \(reason)"
        }
    }
}
