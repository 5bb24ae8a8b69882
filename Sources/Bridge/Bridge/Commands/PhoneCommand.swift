internal import Diagnostics
internal import FastJSON
internal import FoundationEssentials
internal import Glibc
internal import PhoneSamplers
internal import QRCode
internal import Samples

/// `feedbridge phone APP`: what to type into an app, so that it sends to this bridge.
public struct PhoneCommand: Command {
    /// The apps that it knows.
    public static let apps = ["sensor-logger", "owntracks", "overland", "json", "phyphox"]

    private let app: String
    private let name: String?
    private let host: String?

    /// Makes the command; `name` is that of a sampler, `host` how the phone reaches this machine.
    public init(app: String, name: String?, host: String?) {
        self.app = app
        self.name = name
        self.host = host
    }

    /// Prints address, token and the rest. The token is shown: it is what this command is for.
    public func run(_ context: CommandContext) async throws {
        guard app != "phyphox" else { return context.output(Self.phyphox) }
        let configuration = try context.configuration()
        let sampler = configuration.samplers.first { settings in
            guard case .push(let push) = settings.kind else { return false }
            return push.app.kind == app && push.name?.text == name
        }
        guard case .push(let push)? = sampler?.kind else {
            let named = name.map { "\nname = \"\($0)\"" } ?? ""
            throw CommandError(
                "the configuration has no such sampler. Add to it:\n\n[[sampler]]\nkind = \"\(app)\"\(named)\n",
                exitCode: 2
            )
        }
        var lines: [String] = []
        if let listen = configuration.http.listen {
            let directory = try StateDirectory(configuration, environment: context.environment)
            try directory.make(configurationFile: configuration.file)
            let token = try HTTPToken.load(configuration, directory, environment: context.environment)
            lines += http(push, configuration, listen, token)
        }
        if !push.topics.isEmpty, let broker = configuration.homeBroker {
            lines += mqtt(push, broker)
        }
        context.output(lines.joined(separator: "\n") + "\n")
    }

    private static let phyphox = """
        phyphox is asked by the bridge. In the app open an experiment with raw sensors, such as "Acceleration (with g)",
        choose "Allow remote access" in its menu, and put the address that it shows into the configuration:

        [[sampler]]
        kind = "phyphox"
        url = "http://192.168.1.20:8080"

        The app must stay open. Anybody in the same network can read it meanwhile.

        """

    // MARK: HTTP

    private func http(
        _ push: PushConfiguration,
        _ configuration: Configuration,
        _ listen: Configuration.ListenAddress,
        _ token: Secret
    ) -> [String] {
        let scheme = configuration.http.certificate == nil ? "http" : "https"
        let address = host ?? Self.reachable(listen)
        let place = "\(scheme)://\(address.contains(":") ? "[\(address)]" : address):\(listen.port)"
        let end = push.name.map { "/\($0)" } ?? ""
        let secret = token.reveal()
        var lines: [String]
        switch push.app {
        case .sensorLogger:
            let url = "\(place)/in/sensor-logger\(end)"
            lines = [
                "Sensor Logger: Settings, Data Streaming",
                "  Enable HTTP Push     on",
                "  Push URL             \(url)",
                "  Authorization header Bearer \(secret)",
                "  (where the app has no such field, the Push URL is \(url)?token=\(secret))",
                "Then tap \"Tap to Test Pushing\". In Settings, Sensor Configuration, turn on \"Standardise Units & Frames\"",
                "and set standardised = \"on\" for this sampler.",
            ]
            lines += ["", "The address with the token, to be copied by the phone's camera:", ""]
            lines += qr("\(url)?token=\(secret)")
        case .ownTracks:
            let url = "\(place)/in/owntracks\(end)"
            lines = [
                "OwnTracks: Preferences, Connection",
                "  Mode                 HTTP",
                "  URL                  \(url)",
                "  Authentication       on",
                "  User name            any",
                "  Password             \(secret)",
                "  Encryption key       leave it empty, or what is in the sampler's secret_file",
                "", "The same settings, to be opened on the phone:", "",
            ]
            lines += qr(Self.ownTracksLink(url, secret))
        case .overland:
            let url = "\(place)/in/overland\(end)"
            lines = [
                "Overland: Settings",
                "  Receiver Endpoint    \(url)",
                "  Access Token         \(secret)",
                "", "The same settings, to be opened on the phone:", "",
            ]
            lines += qr("overland://setup?url=\(Self.escaped(url))&token=\(Self.escaped(secret))")
        case .json, .mqtt:
            let url = "\(place)/in/json\(end.isEmpty ? "/NAME" : end)"
            lines = [
                "Post a JSON object, or a list of them, to \(url)",
                "with the header  Authorization: Bearer \(secret)",
                "or, where that is not possible, to \(url)?token=\(secret)",
                "", "  curl -H 'Authorization: Bearer \(secret)' -d '{\"temperature\":21.5}' \(url)",
            ]
        }
        if Endpoint(listen).isLoopback, host == nil {
            lines += [
                "",
                "Note: [http] listen = \"\(listen.host):\(listen.port)\" is reached from this machine only. For a phone: \"0.0.0.0:\(listen.port)\".",
            ]
        }
        return lines
    }

    /// OwnTracks opens links that carry a configuration, as Base64 of its JSON.
    static func ownTracksLink(_ url: String, _ password: String) -> String {
        let settings: JSON = [
            "_type": "configuration", "mode": 3, "url": .string(url), "auth": true, "username": "phone",
            "password": .string(password),
        ]
        return "owntracks:///config?inline=\(escaped(Data(settings.serialized().utf8).base64EncodedString()))"
    }

    // MARK: MQTT

    private func mqtt(_ push: PushConfiguration, _ broker: Configuration.HomeBroker) -> [String] {
        let address = broker.url.isLoopback ? host ?? Self.ownAddress() ?? broker.url.host : broker.url.host
        let user =
            broker.username.map { "  User name            \($0)" } ?? "  User name            as the broker wants it"
        switch push.app {
        case .ownTracks:
            return [
                "OwnTracks over MQTT: Preferences, Connection", "  Mode                 MQTT",
                "  Host                 \(address)", "  Port                 \(broker.url.port)",
                "  TLS                  \(broker.url.isSecure ? "on" : "off")", user,
            ]
        case .sensorLogger:
            return [
                "Sensor Logger over MQTT: Settings, Data Streaming", "  Enable MQTT Publish  on",
                "  Broker URL           \(address)   (the app speaks WebSockets only: the broker needs such a listener)",
                "  Topic                \(push.topics.joined(separator: ", "))", user,
            ]
        default:
            return ["Publish JSON to \(push.topics.joined(separator: ", ")) on \(broker.url)"]
        }
    }

    // MARK: Texts

    private func qr(_ text: String) -> [String] {
        (try? QRCode(text))?.terminalLines() ?? []
    }

    private static func reachable(_ listen: Configuration.ListenAddress) -> String {
        guard listen.host == "0.0.0.0" || listen.host == "::" else { return listen.host }
        return ownAddress() ?? "\(InitCommand.bridgeName).local"
    }

    /// The address from which this machine reaches others: nothing is sent for finding it.
    private static func ownAddress() -> String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(9).bigEndian
        // TEST-NET-1: an address that nobody has.
        address.sin_addr.s_addr = UInt32(0xC000_0201).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isKnown else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
        guard inet_ntop(AF_INET, &address.sin_addr, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A text as a value in the query of an address.
    static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                result.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
