import TestKit
import Testing

@Suite("Broker", .timeLimit(.minutes(5)))
struct BrokerTests {
    @Test("carries a message from one foreign client to another")
    func carriesAMessage() async throws {
        let broker = try await Broker.start()
        let subscriber = try await broker.subscriber(["-t", "a/#", "-C", "1"])

        try await broker.publish("hello", to: "a/b")

        #expect(try await subscriber.ended() == 0)
        #expect(subscriber.output.contains("a/b hello\n"))
    }

    @Test("lets in only who knows the password")
    func asksForThePassword() async throws {
        let broker = try await Broker.start { $0.users = ["ada": "right"] }

        try await broker.publish("x", to: "a", ["-u", "ada", "-P", "right"])

        await #expect(throws: ChildProcess.Failure.self) {
            try await broker.publish("x", to: "a", ["-u", "ada", "-P", "wrong"])
        }
    }

    @Test("comes back on its port after a stop")
    func comesBack() async throws {
        let broker = try await Broker.start()

        try await broker.stop()
        #expect(!LocalPorts.accepts(broker.port))

        try await broker.restart()
        #expect(LocalPorts.accepts(broker.port))
    }

    @Test(
        "certificates are refused by a foreign client for the reason they were made for",
        arguments: [
            ("localhost", CertificateAuthority.Validity.now, nil),
            ("elsewhere.example", .now, "host name"),
            ("localhost", .expired, "expired"),
            ("localhost", .notYet, "not yet valid"),
        ]
    )
    func certificates(name: String, validity: CertificateAuthority.Validity, complaint: String?) async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue([name], validity)
        let secure = try await Broker.start { $0.certificate = certificate }

        let client = try ChildProcess(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(secure.port)", "-CAfile", authority.certificateFile,
                "-verify_hostname", "localhost", "-verify_return_error", "-brief",
            ]
        )
        let code = try await client.ended()

        if let complaint {
            let said = (client.output + client.talk).replacing("hostname", with: "host name")
            #expect(code != 0)
            #expect(said.contains(complaint), "\(said)")
        } else {
            #expect(code == 0, "\(client.talk)")
        }
    }
}
