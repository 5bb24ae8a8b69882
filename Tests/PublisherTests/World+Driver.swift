import DataPoints
import Diagnostics
import Publisher

/// Doing what the publisher wants done, and watching that it never wants what it must not.
extension World {
    mutating func execute(_ action: PublisherAction) {
        switch action {
        case .remember(let memory): self.memory = memory
        case .connect(let number): connect(number)
        case .disconnect(let number):
            connection = nil
            epoch += 1
            answer(.mqtt(connection: number, .ended(.failed(.closed))))
        case .subscribe(let number, let filters):
            mustBeOpen("subscribe")
            for filter in filters {
                subscribes.append(now)
                answer(.mqtt(connection: number, .subscribed(filter)), ofConnection: true)
            }
            subscribes.removeAll { $0 <= now - 59.999 }
            if subscribes.count > 100 { fault("more than 100 subscribes") }
        case .publish(_, let message, let points): publish(message, points)
        case .post(let request, let feed, let points): post(request, feed, points)
        case .lookUp(let request, let feed, let from, let to): ask(request, .lookUp(feed, from, to))
        case .delete(let request, let feed, let entry):
            spend(1)
            ask(request, .delete(feed, entry.id))
        case .readThrottle(let request): ask(request, .throttle)
        case .requestPage(let feed, let after, let limit):
            let page = outbox.page(feed, after: after, limit: limit)
            answer(.page(feed, page.points, hasMore: page.hasMore))
        case .count(let feed, let newest, let ids):
            let standing = outbox.standing(feed, newest: newest, among: ids)
            answer(.counted(feed, waiting: standing.count, gone: standing.gone))
        case .confirm(let ids): confirm(ids)
        case .refuse(let ids, _): outbox.refuse(ids)
        case .markDoubtful(let ids): fault("\(ids.count) points are marked as on a plain broker")
        case .doubt(let count): doubtCount += count
        case .feedIsMissing(let feed): answer(.feedReady(feed))
        case .stretch(let stretch): intervals = stretch.intervals.mapValues(\.inSeconds)
        case .use(let link): used = link
        case .grant(let id, let link):
            granted[id] = link
            mustBeOpen("own request")
        case .deny(let id, _): denied.insert(id)
        case .report(let report): reports.append(report)
        }
        if faults.isEmpty { faults += outbox.faults }
    }

    private mutating func mustBeOpen(_ what: String) {
        if now < heldUntil { fault("\(what) during an account hold-off") }
    }

    private mutating func connect(_ number: Int) {
        mustBeOpen("log-in")
        logins.append(now)
        logins.removeAll { $0 <= now - 59.999 }
        if logins.count > 6 { fault("more than 6 log-ins in a minute") }
        epoch += 1
        if !mqttIsReachable || dice.chance(weather.failedConnect) {
            return answer(.mqtt(connection: number, .ended(.failed(.refused))))
        }
        if service.isKeyRefused { return answer(.mqtt(connection: number, .ended(.keyRefused))) }
        if now < service.bannedUntil {
            return answer(.mqtt(connection: number, .ended(.banned(nil))))
        }
        connection = number
        answer(.mqtt(connection: number, .connected), ofConnection: true)
    }

    private mutating func spend(_ count: Int, _ request: Int? = nil) {
        sent.append((now, count, request))
        sent.removeAll { $0.at <= now - 61.999 }
        let ours = Int(Double(service.plan) * settings.share)
        if sent.reduce(0, { $0 + $1.count }) > ours { fault("more than \(ours) points of ours in 62 s") }
    }

    private mutating func publish(_ message: Int, _ points: [PublisherPoint]) {
        mustBeOpen("publish")
        guard let point = points.first else { return fault("publish of nothing") }
        let feed = point.point.feed
        guard outbox.noteSending(points).isEmpty else { return answer(.gone(feed, [point.id])) }
        // An earlier publish of the same actions has broken the connection.
        guard let number = connection else { return }
        spend(1)
        countByLink[.mqtt, default: 0] += 1
        if let other = inFlight[feed], now - other.at < 10 { fault("two unconfirmed MQTT points of \(feed)") }
        if posting.values.contains(where: { $0.first?.point.feed == feed }) { fault("both links on \(feed)") }
        if let born = point.bornAt, boot.nanoseconds - born.nanoseconds > 5_000_000_000 { fault("MQTT carries old") }
        inFlight[feed] = (point.id, now)
        if dice.chance(weather.brokenConnection) {
            // It may have been on its way already.
            if dice.chance(0.5) { store(point) }
            connection = nil
            epoch += 1
            return answer(.mqtt(connection: number, .ended(.failed(.closed))))
        }
        queue.plan(now + delay(), .publishArrives(connection: epoch, message: message, point))
    }

    private mutating func store(_ point: PublisherPoint) {
        guard now >= service.bannedUntil, service.count(at: now) == nil, point.point.value != "poison" else { return }
        queue.plan(now + delay(), .store(point, late: false))
    }

    private mutating func post(_ request: Int, _ feed: FeedKey, _ points: [PublisherPoint]) {
        spend(points.count, request)
        countByLink[.rest, default: 0] += points.count
        if let other = inFlight[feed], now - other.at < 10, connection != nil { fault("both links on \(feed)") }
        if zip(points, points.dropFirst()).contains(where: { $0.id >= $1.id }) { fault("a batch out of order") }
        let gone = outbox.noteSending(points)
        let points = points.filter { !gone.contains($0.id) }
        if !gone.isEmpty { answer(.gone(feed, gone)) }
        guard !points.isEmpty else { return }
        posting[request] = points
        ask(request, .post(points))
    }

    private mutating func ask(_ number: Int, _ request: Request) {
        mustBeOpen("REST")
        queue.plan(now + delay(), .request(life: life, number, request))
    }

    private mutating func confirm(_ ids: [Int]) {
        for (feed, flight) in inFlight where ids.contains(flight.id) { inFlight[feed] = nil }
        outbox.confirm(ids)
    }

    mutating func serve(_ life: Int, _ number: Int, _ request: Request) {
        guard life == self.life || dice.chance(0.5) else { return }
        guard restIsReachable else { return reply(life, number, .notSent(.refused)) }
        if dice.chance(weather.failedRequest) { return reply(life, number, .unavailable(retryAfter: nil)) }
        if dice.chance(weather.lostRequest) { return reply(life, number, .lost(.keepAlive)) }
        if service.isKeyRefused { return reply(life, number, .keyRefused) }
        if now < service.bannedUntil {
            return reply(life, number, .throttled(retryAfter: .seconds(service.bannedUntil - now)))
        }
        let outcome = done(request)
        if dice.chance(weather.lostAnswer) { return reply(life, number, .lost(.keepAlive)) }
        answer(.serviceTime(Timestamp(nanoseconds: Int64(SimulatedService.epoch + now.rounded(.down)) * 1_000_000_000)))
        reply(life, number, outcome)
    }

    private mutating func reply(_ life: Int, _ number: Int, _ outcome: RESTOutcome) {
        let event = PublisherEvent.answered(request: number, outcome)
        queue.plan(now + delay(), .toMachine(life: life, connection: nil, event))
    }

    private mutating func done(_ request: Request) -> RESTOutcome {
        switch request {
        case .post(let points): return take(points)
        case .lookUp(let feed, let from, let to):
            return .listed(service.list(feed, from: from, to: to), isComplete: true)
        case .delete(let feed, let id):
            service.delete(feed, id)
            _ = service.count(at: now)
            return .deleted
        case .throttle:
            return .throttle(limit: service.plan, used: service.counted.count { $0 > now - 60 })
        }
    }

    private mutating func take(_ points: [PublisherPoint]) -> RESTOutcome {
        if points.contains(where: { $0.point.createdAt > service.time(at: now) }) { return .inFuture }
        if points.contains(where: { $0.point.value == "poison" }) {
            // Half of what stands before the bad one may be kept.
            for point in points.prefix(while: { $0.point.value != "poison" }) where dice.chance(0.3) {
                guard service.count(at: now) == nil else { break }
                service.store(point, byMQTT: false, at: now)
            }
            return .refused("value is not taken")
        }
        for (place, point) in points.enumerated() {
            if let wait = service.count(at: now) {
                // A batch that does not fit is refused before anything of it is kept.
                return place == 0 ? .throttled(retryAfter: .seconds(wait)) : .unavailable(retryAfter: .seconds(wait))
            }
            service.store(point, byMQTT: false, at: now)
        }
        return .stored
    }
}
