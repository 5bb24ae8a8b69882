public import AdafruitIO
internal import Diagnostics

/// What was typed on the command line, understood but not acted upon.
public struct SimulatorArguments: Sendable {
    /// An account as it was typed.
    public struct Account: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The file with its key.
        public var keyFile: String
        /// Its plan; nil is the one of `--plan`.
        public var plan: AdafruitIOPlan?
    }

    /// Why a command line is not understood.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// One sentence, with the remedy.
        public let description: String
    }

    /// Whether `--help` was asked for.
    public var wantsHelp = false
    /// Whether `--version` was asked for.
    public var wantsVersion = false
    /// Whether `--verbose` was asked for: what clients do wrong goes to stderr.
    public var isVerbose = false
    /// `--listen`.
    public var listen = "127.0.0.1"
    /// `--mqtt-port`.
    public var mqttPort = 1883
    /// `--http-port`.
    public var httpPort = 8080
    /// `--control-port`.
    public var controlPort: Int?
    /// `--username`.
    public var username: String?
    /// `--key-file`.
    public var keyFile: String?
    /// `--key`, hidden from whoever prints this.
    public var key: String? { secret.map { $0.reveal() } }
    private var secret: Secret?
    /// `--account`.
    public var accounts: [Account] = []
    /// `--plan`.
    public var plan = AdafruitIOPlan.free
    /// `--data`.
    public var dataFile: String?
    /// `--fault`.
    public var faults: [Fault] = []
    /// `--option`.
    public var options = SimulatorOptions()

    /// Understands the words after the program's name.
    public init(_ words: [String]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            // Both `--name VALUE` and `--name=VALUE`.
            var name = word
            var joined: String?
            if word.hasPrefix("--"), let place = word.firstIndex(of: "=") {
                name = String(word[..<place])
                joined = String(word[word.index(after: place)...])
            }
            switch name {
            case "--help", "-h": wantsHelp = true
            case "--version": wantsVersion = true
            case "--verbose": isVerbose = true
            default:
                guard Self.takingValues.contains(name) else {
                    throw Failure(description: "There is no \(word). Try --help.")
                }
                guard let value = joined ?? rest.popFirst() else {
                    throw Failure(description: "\(name) needs a value. Try --help.")
                }
                try set(name, value)
            }
        }
        guard secret == nil || keyFile == nil else {
            throw Failure(description: "--key and --key-file exclude each other. Leave one out.")
        }
        let names = accounts.map(\.name) + (username.map { [$0] } ?? [])
        if let name = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
            throw Failure(description: "The account \(name) is given twice. Leave one out.")
        }
    }

    private static let takingValues: Set<String> = [
        "--mqtt-port", "--http-port", "--control-port", "--listen", "--username", "--key-file", "--key", "--account",
        "--plan", "--data", "--fault", "--option",
    ]

    private mutating func set(_ name: String, _ value: String) throws(Failure) {
        guard !value.isEmpty else { throw Failure(description: "\(name) needs a value. Try --help.") }
        switch name {
        case "--mqtt-port": mqttPort = try port(name, value)
        case "--http-port": httpPort = try port(name, value)
        case "--control-port": controlPort = try port(name, value)
        case "--listen": listen = value
        case "--username": username = try account(name, value)
        case "--key-file": keyFile = value
        case "--key": secret = Secret(value)
        case "--data": dataFile = value
        case "--plan": plan = try plan(name, value)
        case "--account":
            let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 || parts.count == 3, !parts[1].isEmpty else {
                throw Failure(description: "--account takes NAME:KEYFILE[:PLAN], not \(value).")
            }
            accounts.append(
                Account(
                    name: try account(name, parts[0]),
                    keyFile: parts[1],
                    plan: parts.count == 3 ? try plan(name, parts[2]) : nil
                )
            )
        default:
            do throws(SimulatorError) {
                if name == "--fault" { faults.append(try Fault(value)) } else { try options.set(value) }
            } catch {
                throw Failure(description: "\(name): \(error)")
            }
        }
    }

    private func port(_ name: String, _ value: String) throws(Failure) -> Int {
        guard let port = Int(value), (0...65_535).contains(port) else {
            throw Failure(description: "\(name) takes a port from 0 to 65535, not \(value).")
        }
        return port
    }

    private func plan(_ name: String, _ value: String) throws(Failure) -> AdafruitIOPlan {
        guard let plan = AdafruitIOPlan(value) else {
            throw Failure(description: "\(name): a plan is free, plus or data points a minute, not \(value).")
        }
        return plan
    }

    private func account(_ name: String, _ value: String) throws(Failure) -> String {
        let isName = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, !value.isEmpty, value != "time" else {
            throw Failure(description: "\(name): an account's name has letters, digits, _ and -, not \(value).")
        }
        return value
    }
}
