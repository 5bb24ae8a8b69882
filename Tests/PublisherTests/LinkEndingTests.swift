import MQTT
import TestKit
import Testing

@testable import Publisher

@Suite("How a connection ended")
struct LinkEndingTests {
    @Test(
        "each CONNACK code leads to what is right for it",
        arguments: [
            (1, .final(.refused)), (2, .final(.refused)), (3, .throttled(.refused)), (4, .keyRefused),
            (5, .keyRefused), (6, .throttled(.throttled)), (7, .banned(nil)), (99, .failed(.refused)),
        ] as [(UInt8, ReconnectPolicy.Ending)]
    )
    func refusals(code: UInt8, kind: ReconnectPolicy.Ending) {
        #expect(LinkEnding(.refused(MQTTRefusal(code: code))).kind == kind)
    }

    @Test(
        "each other end has its code",
        arguments: [
            (.nameNotFound("x"), .failed(.dns)), (.connectionRefused, .failed(.refused)),
            (.unreachable, .failed(.refused)), (.timedOut, .failed(.keepAlive)), (.keepAlive, .failed(.keepAlive)),
            (.closedByPeer, .failed(.closed)), (.takenOver, .failed(.idInUse)),
            (.invalidConfiguration("x"), .final(.refused)), (.subscriptionRefused(code: 128), .failed(.closed)),
        ] as [(MQTTReason, ReconnectPolicy.Ending)]
    )
    func others(reason: MQTTReason, kind: ReconnectPolicy.Ending) {
        #expect(LinkEnding(reason).kind == kind)
    }

    @Test(
        "a certificate whose time has not come or is over names the clock, any other does not",
        arguments: [(CertificateAuthority.Validity.notYet, LinkReason.clock), (.expired, .clock), (.now, .tls)]
    )
    func clock(validity: CertificateAuthority.Validity, reason: LinkReason) async throws {
        let authority = try await CertificateAuthority()
        // The valid one is for another host.
        let certificate = try await authority.issue([reason == .tls ? "elsewhere.example" : "localhost"], validity)
        let broker = try await Broker.start { $0.certificate = certificate }
        let tls = TLSConfiguration(caFile: authority.certificateFile)

        let error = try await #require(throws: MQTTError.self) {
            _ = try await MQTTConnection.connect(MQTTConfiguration(host: "localhost", port: broker.port, tls: tls))
        }

        #expect(LinkEnding(error).kind == .failed(reason))
        if validity == .notYet { #expect("\(error)".contains("check this machine's clock"), "\(error)") }
    }
}

@Suite("What an answer over REST means")
struct RESTOutcomeTests {
    @Test(
        "each status and sentence of the service",
        arguments: [
            (401, "", .keyRefused), (403, "not yours", .forbidden("not yours")), (404, "not found", .missing),
            (400, "not found - that is an invalid URL", .missing), (400, "request failed", .refused("request failed")),
            (408, "", .unavailable(retryAfter: nil)), (413, "", .refused("HTTP status 413")),
            (422, "created_at may not be in the future", .inFuture),
            (422, "data throttle: 30 a minute", .throttled(retryAfter: nil)),
            (422, "You have reached the feed limit of 10", .feedLimit),
            (422, "value is not taken", .refused("value is not taken")),
            (429, "Retry later", .throttled(retryAfter: nil)), (500, "", .unavailable(retryAfter: nil)),
            (503, "down", .unavailable(retryAfter: nil)),
        ] as [(Int, String, RESTOutcome)]
    )
    func answers(status: Int, text: String, outcome: RESTOutcome) {
        #expect(RESTOutcome(status: status, text: text) == outcome)
    }
}
