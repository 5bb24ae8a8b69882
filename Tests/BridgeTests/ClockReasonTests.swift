import Diagnostics
import Publisher
import TestKit
import Testing

@testable import Bridge

@Suite("A service whose certificate is not valid yet", .timeLimit(.minutes(2)))
struct ClockReasonTests {
    @Test("status names this machine's clock as the likely cause, and the bridge tries again")
    func notYetValid() async throws {
        let authority = try await CertificateAuthority()
        let certificate = try await authority.issue(["localhost"], .notYet)
        let broker = try await Broker.start { $0.certificate = certificate }
        let folder = TemporaryDirectory()
        let text = """
            state = "\(folder.path)"
            [account]
            username = "ada"
            plan = 30
            mqtt = "mqtts://localhost:\(broker.port)"
            rest = "http://127.0.0.1:\(LocalPorts.free())"
            ca_file = "\(authority.certificateFile)"
            """
        let configuration = try Configuration(parsing: text, file: "feedbridge.toml")
        let directory = try StateDirectory(configuration, environment: [:])
        try directory.make(configurationFile: "feedbridge.toml")
        let service = try await BridgeService(
            configuration,
            key: Secret("key"),
            directory: directory,
            environment: [:],
            time: SystemTime(),
            log: .silent
        )
        let running = Task { try await service.run([]) }

        try await until("it is said") { await service.status().reason == .clock }

        let status = await service.status()
        #expect(status.message.contains("Check this machine's clock"), "\(status.message)")
        #expect(status.delivery.nextTry != nil)
        running.cancel()
        try await running.value
    }
}
