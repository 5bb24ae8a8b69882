import AdafruitIO
import Diagnostics
import Testing

@testable import Simulator

@Suite("Rates, throttles and bans of an account")
struct AccountMeterTests {
    private func at(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test("thirty points pass in a rolling minute, the next waits for the first to leave")
    func rolling() {
        var meter = AccountMeter(plan: .free)
        for second in 0..<30 { #expect(meter.takePoints(1, at: at(Double(second))) == .taken) }

        #expect(meter.takePoints(1, at: at(30)) == .throttled(seconds: 30))
        #expect(meter.takePoints(1, at: at(60)) == .taken)
    }

    @Test("each further point while throttled adds to the wait: 1, 2, 3, 4 seconds at one a second")
    func arithmetic() {
        var meter = AccountMeter(plan: .plus)
        for second in 0..<60 { #expect(meter.takePoints(1, at: at(Double(second))) == .taken) }

        let waits = (0..<4).map { _ in meter.takePoints(1, at: at(59.5)) }

        #expect(waits == [1, 2, 3, 4].map { .throttled(seconds: $0) })
    }

    @Test("who keeps publishing above the rate stays throttled for ever")
    func forEver() {
        var meter = AccountMeter(plan: .free, enforcementLimit: 1000)
        var taken = 0
        for step in 0..<600 where meter.takePoints(1, at: at(Double(step) * 1.5)) == .taken { taken += 1 }

        #expect(taken == 30)
    }

    @Test("a group's points are taken together or not at all")
    func allOrNothing() {
        var meter = AccountMeter(plan: .free)
        #expect(meter.takePoints(28, at: at(0)) == .taken)

        #expect(meter.takePoints(5, at: at(1)) == .throttled(seconds: 59))
    }

    @Test("as many refused points again bring a ban")
    func enforcement() {
        var meter = AccountMeter(plan: .free)
        var verdicts: [AccountMeter.Verdict] = []
        for _ in 0..<62 { verdicts.append(meter.takePoints(1, at: at(0))) }

        #expect(verdicts[59] == .throttled(seconds: 60))
        #expect(verdicts[60] == .banned(seconds: 30, isNew: true))
        #expect(verdicts[61] == .banned(seconds: 30, isNew: false))
    }

    @Test("bans last 30 seconds times their number in the last hour, at most an hour")
    func banLengths() {
        var meter = AccountMeter(plan: .free)
        var now = 0.0
        func tenFailures(_ meter: inout AccountMeter) -> Int? {
            var ban: Int?
            for _ in 0..<10 { ban = meter.failedPublish(at: at(now)) ?? ban }
            return ban
        }
        var lengths: [Int] = []
        for _ in 0..<4 {
            lengths.append(tenFailures(&meter) ?? 0)
            now += 200
        }
        #expect(lengths == [30, 60, 90, 120])
        now = 600 + 3601
        #expect(tenFailures(&meter) == 30)
        #expect(meter.banLeft(at: at(now + 29)) == 1)
        #expect(meter.banLeft(at: at(now + 30)) == nil)
    }

    @Test("twenty log-ins a minute pass; the next is banned, or throttled when so set")
    func logins() {
        var meter = AccountMeter(plan: .free)
        for _ in 0..<20 { #expect(meter.login(at: at(0), bans: true) == .taken) }
        #expect(meter.login(at: at(10), bans: false) == .throttled(seconds: 50))
        #expect(meter.login(at: at(10), bans: true) == .banned(seconds: 30, isNew: true))
        #expect(meter.login(at: at(39), bans: true) == .banned(seconds: 1, isNew: false))
        #expect(meter.login(at: at(61), bans: true) == .taken)
    }

    @Test("a hundred subscribes a minute pass, the last ten with a warning")
    func subscribes() {
        var meter = AccountMeter(plan: .free)
        var warnings: [Int] = []
        for _ in 0..<100 {
            guard case .taken(let warning) = meter.subscribe(at: at(0)) else {
                Issue.record("refused")
                return
            }
            if let warning { warnings.append(warning) }
        }

        #expect(warnings == Array((0...10).reversed()))
        #expect(meter.subscribe(at: at(1)) == .tooMany)
        #expect(meter.subscribe(at: at(60)) == .taken(warning: nil))
    }

    @Test("ten failed subscribes in a minute bring a ban, nine do not")
    func failedSubscribes() {
        var meter = AccountMeter(plan: .free)
        for _ in 0..<9 { #expect(meter.failedSubscribe(at: at(0)) == nil) }

        #expect(meter.failedSubscribe(at: at(59)) == 30)
        #expect(meter.subscribe(at: at(60)) == .banned)
    }
}

@Suite("Faults and options as text")
struct FaultTextTests {
    @Test("the forms of the contract are read")
    func forms() throws {
        #expect(try Fault("connack:code=6,count=3") == .connack(code: 6, count: 3))
        #expect(try Fault("ban:seconds=60") == .ban(seconds: 60))
        #expect(try Fault("throttle:seconds=20") == .throttle(seconds: 20))
        #expect(try Fault("drop-after-puback:every=7") == .dropAfterPuback(every: 7))
        #expect(try Fault("puback-delay:ms=500") == .pubackDelay(milliseconds: 500))
        #expect(try Fault("puback-drop:every=5") == .pubackDrop(every: 5))
        #expect(try Fault("half-open:after=20") == .halfOpen(after: 20))
        #expect(try Fault("close:after=10") == .close(after: 10))
        #expect(try Fault("echo-twice") == .echoTwice)
        #expect(
            try Fault("rest:status=503,retry_after=30,count=2") == .rest(status: 503, retryAfter: 30, count: 2)
        )
        #expect(try Fault("rest-slow:ms=3000") == .restSlow(milliseconds: 3000))
        #expect(try Fault("lost-answer:every=5") == .lostAnswer(every: 5))
        #expect(try Fault("backdated-last") == .backdatedLast)
        #expect(try Fault("keep-alive-cut:seconds=300") == .keepAliveCut(seconds: 300))
        #expect(try Fault("quoted-messages=off") == .quotedMessages(false))
    }

    @Test(
        "what is not understood is refused with the reason",
        arguments: [
            "", "nonsense", "ban", "ban:seconds", "ban:seconds=x", "ban:seconds=0", "ban:seconds=1,seconds=2",
            "ban:minutes=1", "connack:code=300", "rest:status=200", "echo-twice:every=2", "connack:code=6,",
        ]
    )
    func refused(text: String) {
        #expect(throws: SimulatorError.self) { try Fault(text) }
    }

    @Test("a fault with a count ends after it, and every n-th is every n-th")
    func counting() {
        let faults = Faults([.connack(code: 3, count: 2), .pubackDrop(every: 3)])

        #expect((0..<4).map { _ in faults.connackCode() } == [3, 3, nil, nil])
        #expect((0..<7).map { _ in faults.dropsPuback() } == [false, false, true, false, false, true, false])
        faults.clear()
        #expect(!faults.dropsPuback())
    }

    @Test("each option is set by its name, and refuses what it does not take")
    func options() throws {
        var options = SimulatorOptions()
        for text in ["wrong-key=4", "quoted-messages=off", "qos2=accept", "will-delay=5", "enforcement-limit=7"] {
            try options.set(text)
        }

        #expect(options.wrongKeyCode == 4)
        #expect(!options.quotesMessages)
        #expect(options.qos2 == .accept)
        #expect(options.willDelay == 5)
        #expect(options.enforcementLimit == 7)
        for text in ["", "wrong-key", "wrong-key=3", "nothing=1", "qos2=", "will-delay=-1"] {
            #expect(throws: SimulatorError.self) { try options.set(text) }
        }
        for key in SimulatorOptions.keys {
            for value in key.values.split(separator: "|") {
                let number = ["N", "SECONDS"].contains(value) ? "9" : String(value)
                try options.set("\(key.name)=\(number)")
            }
        }
    }
}
