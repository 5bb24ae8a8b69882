import Testing

@testable import AdafruitIO

@Suite("Messages of the errors and throttle topics")
struct ServiceMessageTests {
    @Test(
        "every documented text is understood, quoted or bare",
        arguments: [
            ("ada data rate limit reached, 12 seconds until throttle released", .dataRate(wait: .seconds(12))),
            ("ada data rate limit reached, 1 second until throttle released", .dataRate(wait: .seconds(1))),
            (
                "c1 10.0.0.7 SUBSCRIBE ada/f/x only 7 attempts remaining in the next 60 seconds, "
                    + "please slow your request rate",
                .subscribesLeft(7)
            ),
            ("c1 10.0.0.7 SUBSCRIBE ada/f/x made too many requests, wait before reconnecting", .tooManyRequests),
            ("c1 enforcement limit reached, your account is banned for 90 seconds", .banned(.seconds(90))),
            ("c1 10.0.0.7 PUBLISH ada/tele/LWT rejected, not a valid resource topic", .invalidTopic),
            ("c1 10.0.0.7 PUBLISH bob/g/x rejected, only shared feeds may be published to", .notSharedFeed),
            (
                #"PUBLISH to topic bob/g/x rejected, in {username}/{type}/{key} topics for shared resources, {type} "#
                    + #"must be "feeds""#,
                .notSharedFeed
            ),
            ("c1 10.0.0.7 ada/f/x request flood, disconnecting", .flood),
            ("c1 10.0.0.7 PUBLISH bob/f/x rejected, resource not available or not authorized", .notAuthorized),
            ("c1 10.0.0.7 PUBLISH ada/f/x rejected, user is temporarily blocked", .blocked),
            (
                "Validation failed: Name may contain only letters, digits, underscores, spaces, or dashes",
                .validation
            ),
            ("the moon is full", .other),
        ] as [(String, ServiceMessage.Reason)]
    )
    func understood(text: String, reason: ServiceMessage.Reason) {
        let quoted =
            "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""

        #expect(ServiceMessage(text).reason == reason)
        #expect(ServiceMessage(Array(quoted.utf8)).reason == reason)
        #expect(ServiceMessage(quoted).text == text)
    }

    @Test("a name or a topic with a number in it does not become the wait")
    func trickyNames() {
        let message = ServiceMessage("user42 data rate limit reached, 5 seconds until throttle released")

        #expect(message.wait == .seconds(5))
        #expect(ServiceMessage("c 60 seconds, banned for 30 seconds").wait == .seconds(30))
        #expect(ServiceMessage("c 10.0.0.7 PUBLISH ada/f/banned/x rejected, not a valid resource topic").wait == nil)
        #expect(ServiceMessage("banned for 99999999999999999999 seconds").wait == .seconds(86_400))
    }
}

@Suite("Answers to CONNECT and plans")
struct ConnackAndPlanTests {
    @Test("codes 6 and 7 wait, on the link and on the account; wrong keys stop")
    func remedies() {
        #expect(ConnackMeaning(rawValue: 6)?.remedy == .waitOnLink(.seconds(60)))
        #expect(ConnackMeaning(rawValue: 7)?.remedy == .waitOnAccount(.seconds(60)))
        #expect(ConnackMeaning(rawValue: 3)?.remedy == .waitOnLink(.seconds(60)))
        #expect(ConnackMeaning(rawValue: 5)?.remedy == .checkKey)
        #expect(ConnackMeaning(rawValue: 2)?.remedy == .stop)
        #expect(ConnackMeaning(rawValue: 0)?.remedy == .proceed)
        #expect(ConnackMeaning(rawValue: 8) == nil)
    }

    @Test("plans are read and know their limits")
    func plans() {
        #expect(AdafruitIOPlan("free")?.pointsPerMinute == 30)
        #expect(AdafruitIOPlan("free")?.feeds == 10)
        #expect(AdafruitIOPlan("plus")?.pointsPerMinute == 60)
        #expect(AdafruitIOPlan("plus")?.feeds == nil)
        #expect(AdafruitIOPlan("1000") == .custom(pointsPerMinute: 1000))
        #expect(AdafruitIOPlan("free")?.retention == .seconds(2_592_000))
        for text in ["", "0", "-5", "gold"] { #expect(AdafruitIOPlan(text) == nil) }
    }
}
