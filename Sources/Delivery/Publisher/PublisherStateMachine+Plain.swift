internal import DataPoints
internal import Diagnostics

/// A plain broker: PUBACK confirms, many messages are under way at once, and order is kept feed by feed.
extension PublisherStateMachine {
    /// Points of all feeds that are kept in memory, about, and the least of one feed.
    private static let mostInMemory = 4096
    private static let leastOfFeed = 64
    private static let largestPage = 500
    /// A broker that has acknowledged nothing for so long, with messages under way, is not there any more.
    private static let longestSilence = Duration.seconds(30)

    private var mostOfFeed: Int { max(Self.leastOfFeed, Self.mostInMemory / max(1, plain.lanes.count)) }

    mutating func acceptedPlainly(_ points: [PublisherPoint]) {
        var rest = points[...]
        while let feed = rest.first?.point.feed {
            let end = rest.firstIndex { $0.point.feed != feed } ?? rest.endIndex
            plain.lanes[plain.lane(for: feed)].accept(rest[..<end], limit: mostOfFeed)
            rest = rest[end...]
        }
        memory.budget.countArrivals(points.count, at: now)
    }

    mutating func pagedPlainly(_ feed: FeedKey, _ points: [PublisherPoint], hasMore: Bool) {
        let sentBefore = plain.lanes[plain.lane(for: feed)].endPage(points, hasMore: hasMore)
        if sentBefore > 0 { countDoubt(sentBefore) }
    }

    /// Asks how many points of that feed there are, and which of those in sight have left.
    mutating func countPlainly(_ feed: FeedKey) {
        let lane = plain.lanes[plain.lane(for: feed)]
        actions.append(.count(feed, newest: .max, among: lane.ids))
    }

    /// The broker has these messages.
    mutating func acknowledgedPlainly(_ messages: [Int]) {
        var ids: [Int] = []
        for message in messages {
            guard let sent = plain.underWay.removeValue(forKey: message) else { continue }
            ids += sent.points.lazy.map(\.id)
            plain.lanes[sent.lane].waiting = max(0, plain.lanes[sent.lane].waiting - sent.points.count)
            closeSpending(message)
        }
        plain.heardAt = plain.underWay.isEmpty ? nil : now
        if !ids.isEmpty { actions.append(.confirm(ids)) }
    }

    /// These messages never left this machine, and no other will over this connection.
    mutating func notSentPlainly(_ messages: [Int]) {
        plain.isBroken = true
        for message in messages { memory.budget.refund(message) }
        putBackPlainly(messages.compactMap { plain.underWay.removeValue(forKey: $0) })
        if plain.underWay.isEmpty { plain.heardAt = nil }
    }

    /// The connection has ended: what is under way may have arrived or not, and is sent again.
    mutating func giveUpPlainly() {
        plain.isBroken = false
        guard !plain.underWay.isEmpty else { return }
        let lost = plain.underWay.sorted { $0.key < $1.key }
        plain.underWay = [:]
        plain.heardAt = nil
        for message in lost { closeSpending(message.key) }
        let messages = lost.map { $0.value }.map { message in
            var message = message
            for place in message.points.indices { message.points[place].attempts += 1 }
            return message
        }
        let ids = messages.flatMap { $0.points.map(\.id) }
        putBackPlainly(messages)
        actions.append(.markDoubtful(ids))
        countDoubt(ids.count)
    }

    private mutating func putBackPlainly(_ messages: [PlainSide.Message]) {
        var points: [Int: [PublisherPoint]] = [:]
        for message in messages { points[message.lane, default: []] += message.points }
        for (lane, points) in points { plain.lanes[lane].putBack(points) }
    }

    private mutating func closeSpending(_ message: Int) {
        guard memory.budget.plan != nil else { return }
        memory.budget.close(message, at: now)
        isMemoryChanged = true
    }

    /// Does all that is due: pages, messages, and the end of a connection that is silent.
    mutating func tendPlainly() {
        if let due = silenceDue, due <= now {
            actions.append(.report(.silentConnection))
            close(.failed(.keepAlive))
        }
        publishPlainly()
        guard mqtt.phase == .up else { return }
        for lane in plain.lanes.indices where plain.lanes[lane].hasMore && !plain.lanes[lane].isPaging {
            let room = mostOfFeed - plain.lanes[lane].count
            guard room >= mostOfFeed / 2 else { continue }
            plain.lanes[lane].beginPage()
            actions.append(
                .requestPage(
                    plain.lanes[lane].feed,
                    after: plain.lanes[lane].cursor,
                    limit: min(room, Self.largestPage)
                )
            )
        }
    }

    /// When a connection that acknowledges nothing is given up.
    var silenceDue: BootInstant? {
        guard mqtt.phase == .up, !plain.underWay.isEmpty else { return nil }
        return plain.heardAt?.advanced(by: Self.longestSilence)
    }

    /// Publishes what waits, feeds taking turns, as many messages at once as may be under way.
    private mutating func publishPlainly() {
        guard case .plain(let inFlight, let pointsPerMessage) = settings.profile, mqtt.phase == .up, isOpen,
            !plain.isBroken, !plain.lanes.isEmpty
        else { return }
        let (window, most) = (max(1, inFlight), max(1, pointsPerMessage))
        var free = window - plain.underWay.count
        // Each round costs a commit. A small one is worth it only when nothing more waits: else acknowledgements are on
        // their way that make room for a larger one.
        let messages = (plain.ready + most - 1) / most
        guard free >= min(messages, max(1, window / 4)) else { return }
        var points = memory.budget.plan == nil ? Int.max : memory.budget.leftForLive(hasBacklog: false)
        var idle = 0
        while free > 0, points > 0, idle < plain.lanes.count {
            let lane = plain.turn % plain.lanes.count
            plain.turn = lane + 1
            let taken = plain.lanes[lane].take(min(most, points))
            guard !taken.isEmpty else {
                idle += 1
                continue
            }
            idle = 0
            free -= 1
            points -= taken.count
            send(taken, of: lane)
        }
    }

    private mutating func send(_ points: [PublisherPoint], of lane: Int) {
        let message = number()
        if plain.underWay.isEmpty { plain.heardAt = now }
        plain.underWay[message] = PlainSide.Message(lane: lane, points: points)
        if memory.budget.plan != nil {
            memory.budget.spend(live: points.count, backlog: 0, key: message, at: now)
            isMemoryChanged = true
        }
        actions.append(.publish(connection: mqtt.connection, message: message, points))
    }
}
