import DataPoints
import Diagnostics
import Foundation
import Outbox
import TestKit
import Testing

@testable import Publisher

/// The real outbox and the real decisions, with a service that is away and comes back; time is moved by hand.
///
/// It does what the driver does, in the order of the actions, and every answer comes at once.
private final class OfflineWorld {
    let time = ManualTime()
    let outbox: OutboxStore
    var machine: PublisherStateMachine
    var isOnline = false
    var sent = 0
    /// Points of the last 62 s, by when they were sent.
    private var window: [(at: BootInstant, count: Int)] = []
    private(set) var mostInWindow = 0
    private var told: [FeedKey: Int64] = [:]
    private var answers: [PublisherEvent] = []
    let feeds: [FeedKey]

    init(folder: String, plan: Int) async throws {
        feeds = (0..<10).compactMap { FeedKey("feed-\($0)") }
        outbox = try await OutboxStore.open(folder: folder, time: time)
        outbox.setClock(isRight: true)
        var publisher = PublisherSettings()
        publisher.plan = plan
        publisher.rules = feeds.map { RuleDemand(feed: $0, interval: .seconds(10)) }
        machine = PublisherStateMachine(settings: publisher, bootID: "a", at: time.boot(), random: Dice(state: 3))
        try await hand(.start(waiting: [:]))
    }

    /// Points that were made just now: on the disk first, then told.
    func sample(_ count: Int, _ number: Int) async throws {
        let wall = time.wall()
        outbox.append((0..<count).map { DataPoint(feed: feeds[$0 % 10], value: "\(number).\($0)", createdAt: wall) })
        try await outbox.flush()
        for feed in feeds {
            while true {
                let page = try await outbox.points(of: feed, beyond: told[feed], limit: 100)
                guard let last = page.last else { break }
                told[feed] = last.id
                try await hand(.accepted(page.map(point)))
                if page.count < 100 { break }
            }
        }
    }

    /// Lets time go by, tick by tick.
    func wait(_ duration: Duration) async throws {
        let end = time.boot().advanced(by: duration)
        while let deadline = machine.deadline, deadline <= end {
            if deadline > time.boot() { time.advance(by: time.boot().duration(to: deadline)) }
            try await hand(.tick)
        }
        time.advance(by: time.boot().duration(to: end))
        try await hand(.tick)
    }

    private func point(_ point: OutboxPoint) -> PublisherPoint {
        let age = time.wall() - point.point.createdAt
        let born = time.boot().advanced(by: .zero - age)
        return PublisherPoint(id: Int(point.id), point: point.point, bornAt: born, attempts: point.attempts)
    }

    private func hand(_ event: PublisherEvent) async throws {
        answers.append(event)
        while !answers.isEmpty {
            let event = answers.removeFirst()
            for action in machine.handle(event, at: time.boot()) { try await perform(action) }
        }
    }

    private func perform(_ action: PublisherAction) async throws {
        switch action {
        case .connect(let number): answers.append(.mqtt(connection: number, .ended(.failed(.refused))))
        case .post(let request, _, let points):
            try await outbox.markSending(points.map { Int64($0.id) })
            guard isOnline else { return answers.append(.answered(request: request, .notSent(.refused))) }
            sent += points.count
            let now = time.boot()
            window.removeAll { $0.at.advanced(by: .seconds(60)) <= now }
            window.append((now, points.count))
            mostInWindow = max(mostInWindow, window.reduce(0) { $0 + $1.count })
            answers.append(.answered(request: request, .stored))
        case .lookUp(let request, _, _, _):
            answers.append(
                .answered(request: request, isOnline ? .listed([], isComplete: true) : .notSent(.refused))
            )
        case .readThrottle(let request):
            let limit = machine.settings.plan ?? 30
            answers.append(
                .answered(request: request, isOnline ? .throttle(limit: limit, used: 0) : .notSent(.refused))
            )
        case .requestPage(let feed, let id, let limit):
            var found: [OutboxPoint] = []
            for state in [PointState.waiting, .doubt, .sending] {
                found += try await outbox.points(of: feed, in: state, beyond: Int64(id), limit: limit + 1)
            }
            found.sort { $0.id < $1.id }
            answers.append(.page(feed, found.prefix(limit).map(point), hasMore: found.count > limit))
        case .confirm(let ids): outbox.confirm(ids.map { Int64($0) })
        default: break
        }
    }
}

@Suite("A day without network", .timeLimit(.minutes(30)))
struct DayOfflineTests {
    /// Resident memory in kB.
    static func resident() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    @Test("memory stays flat over a million points; then at least 95 % of what is free is used to drain them")
    func flatAndDrained() async throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // In a process of its own: memory of other tests does not count.
        await #expect(processExitsWith: .success) { [path = path as String] in
            func check(_ condition: Bool, _ text: String) {
                guard !condition else { return }
                print(text)
                exit(1)
            }
            let plan = 3000
            let world = try await OfflineWorld(folder: path, plan: plan)
            let steps = 1000
            var early = 0
            for step in 0..<steps {
                try await world.sample(1000, step)
                try await world.wait(.milliseconds(86_400))
                // After a tenth all that is ever kept in memory is there.
                if step == steps / 10 { early = Self.resident() }
            }
            let late = Self.resident()
            check(late - early < 6000, "memory grew by \(late - early) kB while offline")
            let waiting = world.outbox.statistics.total
            check(waiting.pending == 1_000_000 && waiting.isBalanced, "\(waiting)")

            world.isOnline = true
            // The longest pause between two tries.
            try await world.wait(.seconds(600))
            let (before, minutes) = (world.sent, 40)
            for _ in 0..<minutes { try await world.wait(.seconds(60)) }
            let sent = world.sent - before
            try await world.outbox.flush()
            // The switch has a reserve of three, and a window of 62 s counts for the service's 60.
            let free = Double(plan - 3) * Double(minutes) * 60 / 62
            let drained = Self.resident()
            print(
                "offline +\(late - early) kB, drained +\(drained - early) kB, used \(Double(sent) / free) of what is free"
            )
            check(Double(sent) >= 0.95 * free, "sent \(sent) of \(free)")
            check(world.mostInWindow <= plan, "sent \(world.mostInWindow) in a minute")
            check(drained - early < 8000, "memory grew by \(drained - early) kB while draining")
            let counts = world.outbox.statistics.total
            check(counts.isBalanced && counts.confirmed == world.sent, "\(counts) after \(world.sent)")
            check(world.machine.status.drainTime != nil, "nobody says how long it takes")
            exit(0)
        }
    }
}
