public import Diagnostics

/// Where and how to connect.
public struct MQTTConfiguration: Sendable {
    /// The protocol's version.
    public enum Version: Sendable {
        /// MQTT 3.1.1.
        case v311
        /// MQTT 5.
        case v5
    }

    /// A host name or an address.
    public var host: String
    /// The TCP port: by custom 1883, with TLS 8883.
    public var port: Int
    /// How to encrypt; nil for plain TCP.
    public var tls: TLSConfiguration?
    /// The protocol's version, 3.1.1 unless set.
    public var version = Version.v311
    /// The account's name.
    public var username: String?
    /// The account's password or key.
    public var password: Secret?
    /// The client's id; nil lets the broker choose one, which needs a clean session.
    public var clientID: String?
    /// The longest silence before a ping: whole seconds, 5 s to 18 h, or zero for none.
    public var keepAlive: Duration = .seconds(60)
    /// Whether the broker forgets this client when it leaves.
    public var cleanSession = true
    /// What the broker publishes when this client vanishes.
    public var will: MQTTWill?
    /// How many messages may be on their way, unacknowledged, at a time.
    public var inFlightWindow = 20
    /// The longest time from the start to the broker's answer, name resolution included.
    public var connectTimeout: Duration = .seconds(30)

    /// Connects to `host` over plain TCP unless `tls` says otherwise; the port defaults to the usual one.
    public init(host: String, port: Int? = nil, tls: TLSConfiguration? = nil) {
        self.host = host
        self.port = port ?? (tls == nil ? 1883 : 8883)
        self.tls = tls
    }
}

/// How a connection is encrypted.
public struct TLSConfiguration: Sendable {
    /// The authorities to trust, a PEM file; nil for those that the system trusts.
    public var caFile: String?
    /// The client's own certificate, a PEM file.
    public var certificateFile: String?
    /// The key of `certificateFile`, a PEM file without a password.
    public var keyFile: String?
    /// Accepts a certificate that is for another host: whoever holds any trusted certificate can then listen in.
    public var dangerouslySkipHostNameCheck = false

    /// Trusts the authorities in `caFile`, by default those of the system.
    public init(caFile: String? = nil) {
        self.caFile = caFile
    }
}

/// What the broker publishes when a client vanishes without a DISCONNECT.
public struct MQTTWill: Sendable {
    /// Where to.
    public var topic: String
    /// What.
    public var payload: [UInt8]
    /// With what promise.
    public var qos: MQTTQoS
    /// Whether the broker keeps it for later subscribers.
    public var retain: Bool

    /// Makes a will.
    public init(topic: String, payload: [UInt8], qos: MQTTQoS = .atLeastOnce, retain: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
    }
}

extension MQTTConfiguration {
    /// Says what is wrong before anything is opened.
    func validate() throws(MQTTError) {
        func refuse(_ problem: String) throws(MQTTError) {
            throw MQTTError(.invalidConfiguration(problem), while: "preparing the connection")
        }
        if host.isEmpty || host.utf8.contains(0) { try refuse("the host is empty or no text") }
        if !(1...65_535).contains(port) { try refuse("the port \(port) is not between 1 and 65535") }
        if clientID == nil, !cleanSession { try refuse("a session that is kept needs a client id") }
        if let clientID, !MQTTTopic.isText(clientID) || clientID.isEmpty {
            try refuse("the client id is no plain text")
        }
        if let username, !MQTTTopic.isText(username) { try refuse("the user name is no plain text") }
        if password != nil, username == nil { try refuse("a password needs a user name") }
        if let password, password.reveal().utf8.contains(0) { try refuse("the password holds a zero byte") }
        if keepAlive != .zero, keepAlive < .seconds(5) || keepAlive >= .seconds(65_536) {
            try refuse("the keep-alive is not between 5 s and 18 h, and not zero")
        }
        if !(1...60_000).contains(inFlightWindow) { try refuse("the in-flight window is not between 1 and 60000") }
        if connectTimeout <= .zero { try refuse("the connect timeout is not positive") }
        if let will {
            guard MQTTTopic.isName(will.topic) else {
                throw MQTTError(.invalidTopic(will.topic), while: "preparing the will")
            }
            guard will.payload.count <= 65_535 else { throw MQTTError(.payloadTooLarge, while: "preparing the will") }
        }
        if let tls {
            for file in [tls.caFile, tls.certificateFile, tls.keyFile].compactMap(\.self) where !isReadable(file) {
                try refuse("\(file) cannot be read")
            }
            if (tls.certificateFile == nil) != (tls.keyFile == nil) {
                try refuse("a client certificate needs both its file and its key's file")
            }
        }
    }
}
