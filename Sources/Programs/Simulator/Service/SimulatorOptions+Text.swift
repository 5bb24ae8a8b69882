extension SimulatorOptions {
    /// One option as it is written on the command line.
    public struct Key: Sendable {
        /// Its name.
        public let name: String
        /// The values that it takes, the first of a choice being usual.
        public let values: String
        /// What it decides.
        public let meaning: String
        fileprivate let set: @Sendable (inout SimulatorOptions, String) -> Bool
    }

    /// All options.
    public static let keys: [Key] = [
        flag("back-dated-last", false, "a back-dated point becomes the last value", \.backdatedBecomesLast),
        flag("back-dated-sent", true, "a back-dated point goes to MQTT subscribers", \.backdatedIsSent),
        flag("ban-disconnects", false, "a ban closes the account's connections", \.banDisconnects),
        status("dashboard-created", "status of making a dashboard", \.dashboardCreatedStatus),
        flag("double-dashboard-writes", false, "dashboard writes are delivered twice", \.doubleDashboardWrites),
        Key(name: "enforcement-limit", values: "plan|N", meaning: "refused points in a minute that bring a ban") {
            if $1 == "plan" {
                $0.enforcementLimit = nil
                return true
            }
            guard let number = Int($1), number >= 0 else { return false }
            $0.enforcementLimit = number
            return true
        },
        status("feed-created", "status of making a feed", \.feedCreatedStatus),
        flag("full-json", true, "/json carries key and time, not value and place alone", \.fullJSON),
        flag("get-answers-empty", false, "/get on an empty feed is answered", \.answersEmptyGet),
        flag("get-costs", false, "/get costs a data point of the rate", \.getCosts),
        status("group-created", "status of making a group", \.groupCreatedStatus),
        seconds("keep-alive-cap", "0|SECONDS", "longest keep-alive respected, 0 is any", \.keepAliveCap),
        Key(name: "login-limit", values: "ban|throttle", meaning: "answer beyond 20 log-ins: CONNACK 7 or 6") {
            guard $1 == "ban" || $1 == "throttle" else { return false }
            $0.loginLimitBans = $1 == "ban"
            return true
        },
        flag("missing-group-created", false, "MQTT makes a missing group", \.createsGroups),
        Key(name: "qos2", values: "disconnect|drop|accept", meaning: "what becomes of a QoS 2 message") {
            guard let choice = QoS2(rawValue: $1) else { return false }
            $0.qos2 = choice
            return true
        },
        flag("quoted-messages", true, "errors and throttle messages in quotes", \.quotesMessages),
        flag("retry-after", true, "status 429 has a Retry-After", \.hasRetryAfter),
        Key(name: "throttle-body", values: "json|text", meaning: "body of status 429") {
            guard $1 == "json" || $1 == "text" else { return false }
            $0.throttleInJSON = $1 == "json"
            return true
        },
        seconds("will-delay", "300|SECONDS", "from a lost connection to its will", \.willDelay),
        Key(name: "wrong-key", values: "5|4", meaning: "CONNACK code for a wrong key") {
            guard $1 == "4" || $1 == "5", let code = UInt8($1) else { return false }
            $0.wrongKeyCode = code
            return true
        },
    ]

    /// Sets what `KEY=VALUE` says.
    public mutating func set(_ text: String) throws(SimulatorError) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let key = Self.keys.first(where: { $0.name == parts[0] }) else {
            let names = Self.keys.map(\.name).joined(separator: ", ")
            throw .notUnderstood(text, reason: "options are KEY=VALUE with one of \(names).")
        }
        guard key.set(&self, parts[1]) else {
            throw .notUnderstood(text, reason: "\(key.name) takes \(key.values).")
        }
    }

    private static func flag(
        _ name: String,
        _ usual: Bool,
        _ meaning: String,
        _ path: any WritableKeyPath<SimulatorOptions, Bool> & Sendable
    ) -> Key {
        Key(name: name, values: usual ? "on|off" : "off|on", meaning: meaning) {
            guard $1 == "on" || $1 == "off" else { return false }
            $0[keyPath: path] = $1 == "on"
            return true
        }
    }

    private static func status(
        _ name: String,
        _ meaning: String,
        _ path: any WritableKeyPath<SimulatorOptions, Int> & Sendable
    ) -> Key {
        Key(name: name, values: "201|200", meaning: meaning) {
            guard $1 == "200" || $1 == "201", let code = Int($1) else { return false }
            $0[keyPath: path] = code
            return true
        }
    }

    private static func seconds(
        _ name: String,
        _ values: String,
        _ meaning: String,
        _ path: any WritableKeyPath<SimulatorOptions, Int> & Sendable
    ) -> Key {
        Key(name: name, values: values, meaning: meaning) {
            guard let number = Int($1), (0...86_400).contains(number) else { return false }
            $0[keyPath: path] = number
            return true
        }
    }
}
