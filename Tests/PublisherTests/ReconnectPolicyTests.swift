import Diagnostics
import Publisher
import Testing

@Suite("Reconnect policy")
struct ReconnectPolicyTests {
    private func instant(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1e9)) }

    private func pause(_ decision: ReconnectPolicy.Decision, from now: BootInstant) -> Double? {
        guard case .attempt(let at, _) = decision else { return nil }
        return now.duration(to: at).inSeconds
    }

    @Test("a connection that lived a minute is made again at once")
    func atOnce() {
        var policy = ReconnectPolicy()
        policy.attempting(at: instant(0))
        policy.connected(at: instant(1))

        #expect(policy.ended(.failed(.closed), at: instant(70)) == .attempt(at: instant(70), .closed))
    }

    @Test("a connection that did not last waits at least 10 s, at most 300 s, and longer each time on average")
    func backsOff() throws {
        var policy = ReconnectPolicy()
        var now = instant(0)
        var pauses: [Double] = []
        for _ in 0..<30 {
            policy.attempting(at: now)
            let decision = policy.ended(.failed(.refused), at: now)
            let seconds = try #require(pause(decision, from: now))
            pauses.append(seconds)
            now = now.advanced(by: .seconds(seconds))
        }

        #expect(pauses.allSatisfy { (10...300).contains($0) })
        #expect(pauses.suffix(20).reduce(0, +) > pauses.prefix(3).reduce(0, +))
    }

    @Test("throttled log-ins wait 60 s, then 120 s, then 240 s")
    func throttled() throws {
        var policy = ReconnectPolicy()
        var pauses: [Double] = []
        for step in 0..<3 {
            let now = instant(Double(step) * 1000)
            policy.attempting(at: now)
            pauses.append(try #require(pause(policy.ended(.throttled(.throttled), at: now), from: now)))
        }

        #expect(pauses == [60, 120, 240])
    }

    @Test(
        "a ban waits as long as it said, and never less than 60 s",
        arguments: [(Double?.none, 60.0), (30, 60), (90, 90)]
    )
    func banned(told: Double?, expected: Double) throws {
        var policy = ReconnectPolicy()
        policy.attempting(at: instant(0))

        let decision = policy.ended(.banned(told.map { .seconds($0) }), at: instant(0))

        #expect(pause(decision, from: instant(0)) == expected)
    }

    @Test("a refused key is tried again once in 15 minutes, a refused client id not at all")
    func refused() {
        var policy = ReconnectPolicy()
        policy.attempting(at: instant(0))

        #expect(policy.ended(.keyRefused, at: instant(0)) == .attempt(at: instant(900), .keyRefused))
        #expect(policy.ended(.final(.refused), at: instant(0)) == .stop(.refused))
    }

    @Test("three connections in a row that the peer closed early are called a client id in use")
    func idInUse() throws {
        var policy = ReconnectPolicy()
        var reasons: [LinkReason] = []
        for step in 0..<3 {
            let now = instant(Double(step) * 400)
            policy.attempting(at: now)
            policy.connected(at: now)
            guard case .attempt(_, let reason) = policy.ended(.failed(.closed), at: now.advanced(by: .seconds(2)))
            else {
                Issue.record("it must try again")
                return
            }
            reasons.append(reason)
        }

        #expect(reasons == [.closed, .closed, .idInUse])
    }

    @Test("never more than six log-ins in a minute, whatever happens")
    func neverMoreThanSix() {
        var generator = SystemRandomNumberGenerator()
        var policy = ReconnectPolicy()
        var now = instant(0)
        var logins: [BootInstant] = []
        let endings: [ReconnectPolicy.Ending] = [
            .failed(.closed), .failed(.dns), .failed(.tls), .throttled(.refused), .banned(nil), .keyRefused,
        ]
        for _ in 0..<20_000 {
            policy.attempting(at: now)
            logins.append(now)
            if Bool.random(using: &generator) {
                policy.connected(at: now)
                now = now.advanced(by: .seconds([0, 1, 29, 61].randomElement(using: &generator) ?? 0))
            }
            let ending = endings.randomElement(using: &generator) ?? .keyRefused
            guard case .attempt(let next, _) = policy.ended(ending, at: now) else { continue }
            #expect(next >= now)
            now = next
        }

        for index in logins.indices.dropFirst(6) {
            #expect(logins[index - 6].duration(to: logins[index]) > .seconds(60))
        }
    }
}
