internal import DataPoints
internal import Diagnostics

/// What became of points whose fate is not known: look-ups, second copies, and sending again.
extension PublisherStateMachine {
    /// The service's time is known to a second and a bit.
    private static let clockError = Duration.milliseconds(1500)
    /// How much later than it should an entry may show: before the point is sent again, and as a second copy.
    private static let late = Duration.seconds(5)
    private static let veryLate = Duration.seconds(30)
    private static let otherWritersLast = Duration.seconds(3600)
    private static let mostDoubts = 16

    /// These points may have arrived or not.
    mutating func doubt(_ index: Int, _ points: [PublisherPoint]) {
        let notBefore = now.advanced(by: settings.settle)
        for point in points {
            lanes[index].texts.sent(point.text, until: SentTexts.never, at: now)
            lanes[index].doubts.append(Lane.Doubt(point: point, notBefore: notBefore))
        }
    }

    /// Whether MQTT may carry a point of this lane although some are in doubt.
    func mayGoOn(_ lane: Lane) -> Bool {
        lane.doubts.count <= Self.mostDoubts && lane.doubts.allSatisfy { $0.notBefore <= now }
    }

    /// Asks for what is due: points in doubt first, then second copies, then their deletion.
    mutating func lookUp(_ index: Int) {
        guard lanes[index].lookUp == nil, !lanes[index].isHeld else { return }
        if !lanes[index].doubts.isEmpty {
            let due = lanes[index].doubts.filter { $0.notBefore <= now }
            guard !due.isEmpty else { return }
            if settings.feedsWithoutHistory.contains(lanes[index].feed) {
                lanes[index].doubts.removeAll { $0.notBefore <= now }
                return sendAgain(index, due.map(\.point), isDoubtful: true)
            }
            guard mayRequest else { return }
            let chosen = Array(due.sorted { $0.point.id < $1.point.id }.prefix(lanes[index].lookUpLimit))
            let ids = Set(chosen.map(\.point.id))
            lanes[index].doubts.removeAll { ids.contains($0.point.id) }
            ask(index, about: chosen, isCheck: false)
        } else if lanes[index].checks.contains(where: { $0.notBefore <= now }), mayRequest {
            let place = lanes[index].checks.firstIndex { $0.notBefore <= now } ?? 0
            ask(index, about: [lanes[index].checks.remove(at: place)], isCheck: true)
        } else if let double = lanes[index].doubles.first, lanes[index].deletion == nil, mayRequest,
            memory.budget.leftForBacklog > 0
        {
            let request = number()
            lanes[index].deletion = request
            memory.budget.spend(live: 0, backlog: 1, key: request, at: now)
            isMemoryChanged = true
            rest.requests[request] = .deletion(lane: index)
            actions.append(.delete(request: request, lanes[index].feed, double))
        }
    }

    private mutating func ask(_ index: Int, about doubts: [Lane.Doubt], isCheck: Bool) {
        var from = Timestamp(nanoseconds: .max)
        var to = Timestamp(nanoseconds: .min)
        for doubt in doubts {
            let exact = doubt.point.point.createdAt
            from = min(from, exact - Self.clockError)
            to = max(to, exact + Self.clockError)
            if let span = publishedSpan(doubt, isCheck: isCheck) {
                from = min(from, span.from)
                to = max(to, span.to)
            }
        }
        let request = number()
        lanes[index].lookUp = Lane.LookUp(request: request, doubts: doubts, isCheck: isCheck)
        rest.requests[request] = .lookUp(lane: index)
        actions.append(.lookUp(request: request, lanes[index].feed, from: from, to: to))
    }

    /// Where the service's time of the point lies if it arrived over MQTT; nil if it cannot have gone that way.
    private func publishedSpan(_ doubt: Lane.Doubt, isCheck: Bool) -> (from: Timestamp, to: Timestamp)? {
        guard let flight = doubt.flight ?? memory.flights[doubt.point.id] else { return nil }
        let from = flight.sentAt.map { $0 - Self.clockError } ?? doubt.point.point.createdAt - .seconds(2)
        let late = isCheck ? Self.veryLate : Self.late
        return (from, from + settings.liveWithin + settings.settle + late)
    }

    /// Notes on the points of that feed that went by MQTT which entries near them are of `points`.
    mutating func noteOthers(_ index: Int, _ points: [PublisherPoint]) {
        let feed = lanes[index].feed.text
        for (id, flight) in memory.flights where flight.feed == feed {
            for point in points where point.text == flight.text && point.id != id {
                let doubt = Lane.Doubt(point: point, flight: flight, notBefore: now)
                guard let span = publishedSpan(doubt, isCheck: true), flight.others.count < 100 else { continue }
                let created = point.point.createdAt
                let isNear = created >= span.from - .seconds(2) && created <= span.to + .seconds(2)
                guard isNear, !flight.others.contains(created) else { continue }
                memory.flights[id]?.others.append(created)
            }
        }
    }

    mutating func lookedUp(_ index: Int, _ outcome: RESTOutcome) {
        guard let lookUp = lanes[index].lookUp else { return }
        lanes[index].lookUp = nil
        switch outcome {
        case .listed(let entries, let isComplete):
            if lookUp.isCheck { return removeDoubles(index, lookUp, entries, isComplete: isComplete) }
            sort(index, lookUp, entries, isComplete: isComplete)
        case .missing where !lookUp.isCheck: sendAgain(index, lookUp.doubts.map(\.point), isDoubtful: false)
        case .refused where !lookUp.isCheck: sendAgain(index, lookUp.doubts.map(\.point), isDoubtful: true)
        case .missing, .refused: break
        case .forbidden(let reason):
            lanes[index].heldUntil = now.advanced(by: Self.keyPause)
            actions.append(.report(.feedIsForbidden(lanes[index].feed, reason)))
            takeBack(index, lookUp)
        default: takeBack(index, lookUp)
        }
    }

    private mutating func takeBack(_ index: Int, _ lookUp: Lane.LookUp) {
        if lookUp.isCheck {
            lanes[index].checks.append(contentsOf: lookUp.doubts)
        } else {
            lanes[index].doubts.append(contentsOf: lookUp.doubts)
        }
    }

    /// Confirms what is there; what is not is sent again.
    private mutating func sort(_ index: Int, _ lookUp: Lane.LookUp, _ entries: [StoredPoint], isComplete: Bool) {
        var unused = entries
        var found: [PublisherPoint] = []
        var open: [Lane.Doubt] = []
        for doubt in lookUp.doubts {
            if let place = unused.firstIndex(where: { isExactly($0, doubt.point) }) {
                unused.remove(at: place)
                found.append(doubt.point)
            } else {
                open.append(doubt)
            }
        }
        let hasOthers = lanes[index].othersUntil.map { $0 > now } ?? false
        var absent: [Lane.Doubt] = []
        for doubt in open {
            // Where others write, such an entry may be theirs: rather twice than never.
            if !hasOthers, let span = publishedSpan(doubt, isCheck: false),
                let place = unused.firstIndex(where: { isWithin($0, span, doubt, index) })
            {
                unused.remove(at: place)
                found.append(doubt.point)
            } else {
                absent.append(doubt)
            }
        }
        let until = now.advanced(by: settings.settle + SentTexts.slack)
        for point in found { lanes[index].texts.settled(point.text, until: until, at: now) }
        if !found.isEmpty { finish(index, confirmed: found.map(\.id)) }
        guard !absent.isEmpty else {
            lanes[index].lookUpLimit = 100
            return
        }
        if !isComplete, lookUp.doubts.count > 1 {
            lanes[index].lookUpLimit = max(1, lookUp.doubts.count / 2)
            lanes[index].doubts.append(contentsOf: absent)
            return
        }
        let isDoubtful = !isComplete || (hasOthers && absent.contains { publishedSpan($0, isCheck: false) != nil })
        sendAgain(index, absent.map(\.point), isDoubtful: isDoubtful)
    }

    private mutating func sendAgain(_ index: Int, _ points: [PublisherPoint], isDoubtful: Bool) {
        for point in points where memory.flights[point.id] != nil {
            lanes[index].texts.missed(point.text, at: now)
        }
        lanes[index].putBack(points, most: settings.page)
        if isDoubtful { countDoubt(points.count) }
    }

    mutating func countDoubt(_ count: Int) {
        doubts += count
        actions.append(.doubt(count))
    }

    /// Where the list shows a point twice, the copy that came late goes.
    private mutating func removeDoubles(
        _ index: Int,
        _ lookUp: Lane.LookUp,
        _ entries: [StoredPoint],
        isComplete: Bool
    ) {
        let hasOthers = lanes[index].othersUntil.map { $0 > now } ?? false
        guard isComplete, !hasOthers, let check = lookUp.doubts.first else { return }
        let exact = entries.filter { $0.text == check.point.text && isSameInstant($0, check.point) }
        guard let kept = exact.first?.id ?? entries.first(where: { isExactly($0, check.point) })?.id else { return }
        let copies = entries.filter { entry in
            guard entry.id != kept, entry.text == check.point.text else { return false }
            if exact.contains(entry) { return true }
            return publishedSpan(check, isCheck: true).map { isWithin(entry, $0, check, index) } ?? false
        }
        let room = max(0, 20 - lanes[index].doubles.count)
        lanes[index].doubles.append(contentsOf: copies.prefix(room))
        if !copies.isEmpty { countDoubt(copies.count) }
    }

    /// Whether the entry can be the point as it went by MQTT, and is not another one that went by REST.
    private func isWithin(
        _ entry: StoredPoint,
        _ span: (from: Timestamp, to: Timestamp),
        _ doubt: Lane.Doubt,
        _ index: Int
    ) -> Bool {
        let point = doubt.point
        let others = (doubt.flight ?? memory.flights[point.id])?.others ?? []
        return entry.text == point.text && entry.createdAt >= span.from && entry.createdAt <= span.to
            && !lanes[index].written.contains { $0.id != point.id && isExactly(entry, $0) }
            && !others.contains { isCut(entry.createdAt, of: $0) }
    }

    /// Whether `shown` is `own` as the service shows it: cut to the millisecond or the second.
    private func isCut(_ shown: Timestamp, of own: Timestamp) -> Bool {
        let difference = own.nanoseconds - shown.nanoseconds
        if difference > -1_000_000, difference < 1_000_000 { return true }
        return shown.nanoseconds % 1_000_000_000 == 0 && difference >= 0 && difference < 1_000_000_000
    }

    /// The same text and the same time, which the service may have cut to the millisecond or the second.
    private func isExactly(_ entry: StoredPoint, _ point: PublisherPoint) -> Bool {
        entry.text == point.text && isCut(entry.createdAt, of: point.point.createdAt)
    }

    private func isSameInstant(_ entry: StoredPoint, _ point: PublisherPoint) -> Bool {
        let difference = entry.createdAt.nanoseconds - point.point.createdAt.nanoseconds
        return difference > -1_000_000 && difference < 1_000_000
    }

    /// Somebody else wrote to that feed.
    mutating func foreignPoint(_ index: Int) {
        memory.budget.countForeign(1, at: now)
        lanes[index].othersUntil = now.advanced(by: Self.otherWritersLast)
        isMemoryChanged = true
    }
}
