import Foundation
import MQTT
import TestKit
import Testing

@Suite("TLS", .timeLimit(.minutes(5)))
struct TLSTests {
    private func configuration(_ broker: Broker, trusting caFile: String?) -> MQTTConfiguration {
        MQTTConfiguration(host: "localhost", port: broker.port, tls: TLSConfiguration(caFile: caFile))
    }

    @Test("connects to a broker with the right certificate and carries messages")
    func connects() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue()
        let broker = try await Broker.start { $0.certificate = certificate }

        let connection = try await MQTTConnection.connect(configuration(broker, trusting: authority.certificateFile))
        let subscription = try await connection.subscribe(to: "a", qos: .atLeastOnce, buffer: .all(upTo: 100))
        let text = String(repeating: "x", count: 100_000)
        let batch = (0..<50).map { MQTTPublication(topic: "a", payload: Array("\($0)\(text)".utf8)) }
        #expect(await connection.publish(batch).allSatisfy { $0 == nil })

        let messages = await first(50, of: subscription)
        #expect(messages.map(\.text) == (0..<50).map { "\($0)\(text)" })
        await connection.disconnect()
        #expect(connection.endReason == .disconnected)
    }

    @Test(
        "refuses a certificate for the reason it is wrong",
        arguments: [
            (["elsewhere.example"], CertificateAuthority.Validity.now, MQTTTLSFailure.Kind.hostName),
            (["localhost"], .expired, .expired), (["localhost"], .notYet, .notYetValid),
        ]
    )
    func refuses(names: [String], validity: CertificateAuthority.Validity, kind: MQTTTLSFailure.Kind) async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue(names, validity)
        let broker = try await Broker.start { $0.certificate = certificate }

        let error = try await failure {
            _ = try await MQTTConnection.connect(configuration(broker, trusting: authority.certificateFile))
        }

        guard case .tls(let failure) = error?.reason else {
            Issue.record("\(String(describing: error?.reason))")
            return
        }
        #expect(failure.kind == kind, "\(failure)")
        #expect(!failure.detail.isEmpty)
        #expect(!broker.log.contains("New client connected"))
    }

    @Test("refuses a certificate of an authority that is not trusted, the system's by default")
    func unknownAuthority() async throws {
        let (authority, other) = try await (CertificateAuthority(), CertificateAuthority("Another authority"))
        let certificate = try await authority.issue()
        let broker = try await Broker.start { $0.certificate = certificate }

        for caFile in [other.certificateFile, nil] {
            let error = try await failure {
                _ = try await MQTTConnection.connect(configuration(broker, trusting: caFile))
            }
            guard case .tls(let failure) = error?.reason else {
                Issue.record("\(String(describing: error?.reason))")
                return
            }
            #expect(failure.kind == .unknownAuthority, "\(failure)")
            #expect(!failure.isRetriable)
        }
    }

    @Test("skips the host name only when told so by its frightening name, and still checks the authority")
    func skipsHostName() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue(["elsewhere.example"])
        let broker = try await Broker.start { $0.certificate = certificate }
        var trusting = configuration(broker, trusting: authority.certificateFile)
        trusting.tls?.dangerouslySkipHostNameCheck = true
        var distrusting = trusting
        distrusting.tls?.caFile = nil

        await (try MQTTConnection.connect(trusting)).disconnect()
        let error = try await failure { _ = try await MQTTConnection.connect(distrusting) }

        #expect(error?.reason.description.contains("not trusted") == true)
    }

    @Test("checks an address as a host name too")
    func addresses() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue(["localhost"])
        let broker = try await Broker.start { $0.certificate = certificate }
        var configuration = configuration(broker, trusting: authority.certificateFile)
        configuration.host = "127.0.0.1"

        let error = try await failure { _ = try await MQTTConnection.connect(configuration) }

        guard case .tls(let failure) = error?.reason else {
            Issue.record("\(String(describing: error?.reason))")
            return
        }
        #expect(failure.kind == .hostName)
    }

    @Test("shows its own certificate, and says when the broker wants one")
    func clientCertificate() async throws {
        let authority = try await CertificateAuthority()
        let server = try await authority.issue()
        let client = try await authority.issue(["client"], file: "client")
        let broker = try await Broker.start {
            $0.certificate = server
            $0.clientAuthorityFile = authority.certificateFile
        }
        var configuration = configuration(broker, trusting: authority.certificateFile)

        let error = try await failure { _ = try await MQTTConnection.connect(configuration) }
        guard case .tls(let failure) = error?.reason else {
            Issue.record("\(String(describing: error?.reason))")
            return
        }
        #expect(failure.kind == .clientCertificate, "\(failure)")

        configuration.tls?.certificateFile = client.certificateFile
        configuration.tls?.keyFile = client.keyFile
        await (try MQTTConnection.connect(configuration)).disconnect()
    }

    @Test("trusts what the system trusts by default")
    func systemAuthorities() async throws {
        await #expect(processExitsWith: .success) {
            let authority = try await CertificateAuthority()
            let certificate = try await authority.issue()
            let broker = try await Broker.start { $0.certificate = certificate }
            // OpenSSL's own way to say where the system's authorities are.
            setenv("SSL_CERT_FILE", authority.certificateFile, 1)

            let configuration = MQTTConfiguration(host: "localhost", port: broker.port, tls: TLSConfiguration())
            let connection = try await MQTTConnection.connect(configuration)
            try await connection.publish("x", to: "a")
            await connection.disconnect()
        }
    }

    @Test("reads the authorities anew for each connection, those of the system too: renewed ones need no restart")
    func renewedAuthorities() async throws {
        // In a process of its own: it says where the system's authorities are.
        await #expect(processExitsWith: .success) {
            let (authority, other) = try await (CertificateAuthority(), CertificateAuthority("Another authority"))
            let certificate = try await authority.issue()
            let broker = try await Broker.start { $0.certificate = certificate }
            let folder = TemporaryDirectory()
            let trusted = folder.file("trusted.pem")
            setenv("SSL_CERT_FILE", trusted, 1)
            setenv("SSL_CERT_DIR", folder.path, 1)
            for caFile in [trusted, nil] {
                let tls = TLSConfiguration(caFile: caFile)
                let configuration = MQTTConfiguration(host: "localhost", port: broker.port, tls: tls)
                try folder.write(try String(contentsOfFile: other.certificateFile, encoding: .utf8), to: "trusted.pem")
                guard try await failure({ _ = try await MQTTConnection.connect(configuration) }) != nil else { exit(1) }

                try folder.write(
                    try String(contentsOfFile: authority.certificateFile, encoding: .utf8),
                    to: "trusted.pem"
                )
                await (try MQTTConnection.connect(configuration)).disconnect()
            }
        }
    }

    @Test(
        "ends when the peer hangs up during the handshake",
        arguments: [ScriptedPeer.Step.close, .reset]
    )
    func peerHangsUp(how: ScriptedPeer.Step) async throws {
        let peer = ScriptedPeer([[.awaitBytes(5), how]])
        let configuration = MQTTConfiguration(host: "localhost", port: peer.port, tls: TLSConfiguration())

        let error = try await failure { _ = try await MQTTConnection.connect(configuration) }

        #expect(error?.reason == .closedByPeer)
    }

    @Test("says that a peer speaks no TLS")
    func plainPeer() async throws {
        let peer = ScriptedPeer([[.awaitBytes(5), .send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), .drain]])
        let configuration = MQTTConfiguration(host: "localhost", port: peer.port, tls: TLSConfiguration())

        let error = try await failure { _ = try await MQTTConnection.connect(configuration) }

        guard case .tls(let failure) = error?.reason else {
            Issue.record("\(String(describing: error?.reason))")
            return
        }
        #expect(failure.kind == .other)
        #expect(failure.detail.contains("wrong version number"), "\(failure)")
    }

    @Test("times out when the peer says nothing during the handshake")
    func silentPeer() async throws {
        let peer = ScriptedPeer([[.awaitBytes(5), .hang]])
        var configuration = MQTTConfiguration(host: "localhost", port: peer.port, tls: TLSConfiguration())
        configuration.connectTimeout = .milliseconds(200)

        let error = try await failure { _ = try await MQTTConnection.connect(configuration) }

        #expect(error?.reason == .timedOut)
    }

    @Test("sets up encryption for many clients at once")
    func manyAtOnce() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue()
        let broker = try await Broker.start { $0.certificate = certificate }
        let configuration = configuration(broker, trusting: authority.certificateFile)

        try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { await (try MQTTConnection.connect(configuration)).disconnect() }
            }
            try await group.waitForAll()
        }
    }
}
