import DataPoints
import Diagnostics
import Outbox
import Publisher
import Simulator
import TestKit
import Testing

/// What goes wrong on the service, how it is brought to matter, and what shows that it did.
struct ServiceFault: Sendable, CustomTestStringConvertible {
    enum Links {
        /// By MQTT while it is up.
        case mqttFirst
        /// By MQTT, and by REST only what must.
        case mqtt
        /// By REST alone.
        case rest
    }

    var faults: [String]
    /// Over which links the points go.
    var links = Links.mqttFirst
    /// What the driver says about it, if it says anything.
    var said: String?
    /// What the counters show.
    var shows: @Sendable (AccountCounters, _ accepted: Int) -> Bool = { _, _ in true }

    var testDescription: String { faults.joined(separator: " ") + (links == .rest ? " by REST" : "") }

    static let all: [ServiceFault] = [
        // Every fourth of at least 60 is acknowledged and forgotten: more messages than points.
        ServiceFault(faults: ["drop-after-puback:every=4"], shows: { $0.publishes > 20 && $0.restRequests > 5 }),
        // More than the 20 that may be unacknowledged at a time: the connection is stuck, and made anew.
        ServiceFault(
            faults: ["puback-drop:every=2"],
            links: .mqtt,
            said: "nothing comes back",
            shows: { $0.logins > 1 }
        ),
        ServiceFault(faults: ["puback-delay:ms=20000"]),
        ServiceFault(faults: ["echo-twice"], shows: { $0.points == $1 }),
        ServiceFault(faults: ["half-open:after=7"], links: .mqtt, said: "nothing comes back", shows: { $0.logins > 1 }),
        ServiceFault(faults: ["close:after=5"], said: "MQTT is down (closed)", shows: { $0.logins > 1 }),
        ServiceFault(faults: ["keep-alive-cut:seconds=3"], said: "MQTT is down (closed)"),
        ServiceFault(
            faults: ["connack:code=3,count=2"],
            links: .mqtt,
            said: "MQTT is down (refused)",
            shows: { $0.refusedLogins == 2 }
        ),
        ServiceFault(
            faults: ["connack:code=6,count=1"],
            links: .mqtt,
            said: "MQTT is down (throttled)",
            shows: { $0.refusedLogins == 1 }
        ),
        ServiceFault(
            faults: ["connack:code=7,count=1"],
            links: .mqtt,
            said: "the service wants a pause (banned)",
            shows: { $0.refusedLogins == 1 }
        ),
        ServiceFault(faults: ["throttle:seconds=20"], said: "the service wants a pause (throttled): next try in 21 s"),
        ServiceFault(
            faults: ["quoted-messages=off", "throttle:seconds=20"],
            said: "the service wants a pause (throttled): next try in 21 s"
        ),
        ServiceFault(faults: ["ban:seconds=60"], said: "the service wants a pause (banned): next try in 61 s"),
        ServiceFault(
            faults: ["quoted-messages=off", "ban:seconds=60"],
            said: "the service wants a pause (banned): next try in 61 s"
        ),
        ServiceFault(
            faults: ["rest:status=503,retry_after=5,count=3"],
            links: .rest,
            said: "REST is down (refused)",
            shows: { $0.publishes == 0 }
        ),
        ServiceFault(faults: ["rest:status=500,count=2"], links: .rest, said: "REST is down (refused)"),
        ServiceFault(
            faults: ["rest:status=429,retry_after=7,count=1"],
            links: .rest,
            said: "the service wants a pause (throttled): next try in 8 s"
        ),
        ServiceFault(faults: ["rest-slow:ms=9000"], links: .rest),
        ServiceFault(faults: ["lost-answer:every=2"], links: .rest, said: "REST is down (closed)"),
        ServiceFault(faults: ["backdated-last"], links: .rest, shows: { $0.points == $1 }),
        ServiceFault(faults: ["lost-answer:every=3", "drop-after-puback:every=3", "echo-twice", "close:after=11"]),
    ]

    init(
        faults: [String],
        links: Links = .mqttFirst,
        said: String? = nil,
        shows: @escaping @Sendable (AccountCounters, Int) -> Bool
    ) {
        (self.faults, self.links, self.said, self.shows) = (faults, links, said, shows)
    }

    init(
        faults: [String],
        links: Links = .mqttFirst,
        said: String? = nil,
        shows: @escaping @Sendable (AccountCounters) -> Bool
    ) {
        self.init(faults: faults, links: links, said: said) { counters, _ in shows(counters) }
    }

    init(faults: [String], links: Links = .mqttFirst, said: String? = nil) {
        self.init(faults: faults, links: links, said: said) { _, _ in true }
    }
}

@Suite("A service that fails", .timeLimit(.minutes(5)))
struct ServiceFaultTests {
    @Test("loses nothing and doubles nothing that is not counted", arguments: ServiceFault.all)
    func oneFault(_ fault: ServiceFault) async throws {
        let world = try await SimulatedDelivery(mqttPort: fault.links == .rest ? LocalPorts.free() : nil) { settings in
            if fault.links == .mqtt { settings.waitForMQTT() } else { settings.fallBackSoon() }
        }
        let delivery = world.delivery
        if fault.faults.contains(where: { $0.hasPrefix("connack") }) || fault.links == .rest {
            for text in fault.faults { try await world.inject(text) }
            try await delivery.begin()
        } else {
            delivery.start()
            try await delivery.untilUp()
            delivery.append(20)
            for text in fault.faults { try await world.inject(text) }
        }

        for _ in 0..<3 {
            delivery.append(20)
            try await until("half of them have arrived") { [outbox = delivery.outbox] in
                let counts = outbox.statistics.total
                return counts.confirmed >= counts.accepted - 10
            }
        }
        if let said = fault.said {
            try await until("it says: \(said)") { [talk = delivery.talk] in
                talk.withLock { $0.contains { $0.contains(said) } }
            }
        }
        await world.simulator.service.clearFaults()
        delivery.append(5)

        let doubles = try await world.close(fault.testDescription)
        let counters = try #require(world.counters)
        #expect(fault.shows(counters, delivery.counts.accepted), "\(counters)")
        #expect(doubles == 0, "the service shows in time what it has, and nobody else writes: once")
        #expect(counters.bans == (fault.faults.contains { $0.hasPrefix("ban") } ? 1 : 0))
        await world.end()
    }

    @Test(
        "nothing reaches the service while the account is held",
        arguments: ["ban:seconds=90", "throttle:seconds=60"]
    )
    func held(_ fault: String) async throws {
        let world = try await SimulatedDelivery()
        let (delivery, driver) = (world.delivery, world.delivery.driver)
        delivery.start()
        try await delivery.untilUp()
        delivery.append(30)
        try await until("some have arrived") { [outbox = delivery.outbox] in outbox.statistics.total.confirmed > 10 }

        try await world.inject(fault)
        try await until("the driver knows") { await driver.status.heldUntil != nil }
        let before = try #require(world.counters)
        let until = try #require(await driver.status.heldUntil)
        // More points, all the time; the status says why nothing goes.
        var last = before
        while let held = await driver.status.heldUntil, held == until {
            delivery.append(5)
            last = try #require(world.counters)
            #expect(await driver.status.link == nil || delivery.time.boot() >= until)
            try await Task.sleep(for: .milliseconds(20))
        }

        // What was under way when the service spoke: one message a feed, four requests.
        let during = delivery.time.boot() < until ? try #require(world.counters) : last
        #expect(during.publishes - before.publishes <= Delivery.feeds.count)
        #expect(during.points - before.points <= Delivery.feeds.count)
        #expect(during.logins == before.logins && during.refusedLogins == 0)
        #expect(during.restRequests - before.restRequests <= delivery.settings.mostRequests)
        try await world.close(fault)
        #expect(world.counters?.bans == (fault.hasPrefix("ban") ? 1 : 0))
        await world.end()
    }
}
