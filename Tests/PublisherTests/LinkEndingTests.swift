import MQTT
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
}
