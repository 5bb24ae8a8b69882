public import DataPoints
internal import Diagnostics
public import Outbox

extension PublisherDriver {
    /// Notes durably that these points are being sent; false when the disk would not have it.
    func note(_ points: [PublisherPoint]) async -> Bool {
        do {
            try await outbox.markSending(points.map { Int64($0.id) })
            return true
        } catch {
            log.error("nothing is sent while the outbox cannot be written: \(error)")
            return false
        }
    }

    /// Hands over points that were committed since the last time, each once, one call after the other.
    func takeArrivals() async {
        let before = taking
        let taking = Task {
            await before?.value
            await takeNews()
        }
        self.taking = taking
        await taking.value
    }

    private func takeNews() async {
        let news = await outbox.takeNews()
        guard news.isComplete else {
            for (feed, counts) in outbox.statistics.feeds where counts.pending > 0 { await takeArrivals(of: feed) }
            return
        }
        var new: [PublisherPoint] = []
        new.reserveCapacity(news.points.count)
        for point in news.points where point.id > told[point.point.feed] ?? .min {
            told[point.point.feed] = point.id
            new.append(publisherPoint(point))
        }
        if !new.isEmpty { inbox.yield(.accepted(new)) }
    }

    private func takeArrivals(of feed: FeedKey) async {
        guard !machine.settings.isPlain else { return await countArrivals(of: feed) }
        while true {
            do {
                let page = try await outbox.points(of: feed, beyond: told[feed], limit: 100)
                // Another call may have told of some of them meanwhile.
                let new = page.filter { $0.id > told[feed] ?? .min }
                if let last = new.last {
                    told[feed] = last.id
                    inbox.yield(.accepted(new.map(publisherPoint)))
                }
                if page.count < 100 { return }
            } catch {
                log.error("the outbox cannot be read: \(error)")
                return
            }
        }
    }

    /// Tells of points that come with pages anyway.
    private func countArrivals(of feed: FeedKey) async {
        do {
            while true {
                let last = told[feed]
                let found = try await outbox.waiting(of: feed, beyond: last)
                // Another call may have told of some of them meanwhile.
                guard told[feed] == last else { continue }
                guard let newest = found.newest else { return }
                told[feed] = newest
                inbox.yield(.more(feed, count: found.count))
                return
            }
        } catch {
            log.error("the outbox cannot be read: \(error)")
        }
    }

    /// Reads a page of points that wait, those of an interrupted run among them; never one that was not told of.
    func page(_ feed: FeedKey, after id: Int, limit: Int) async {
        await takeArrivals(of: feed)
        do {
            let newest = told[feed] ?? .min
            var found: [OutboxPoint] = []
            for state in [PointState.waiting, .doubt, .sending] {
                found += try await outbox.points(of: feed, in: state, beyond: Int64(id), limit: limit + 1)
            }
            found.sort { $0.id < $1.id }
            let page = found.prefix(limit).filter { $0.id <= newest }
            inbox.yield(.page(feed, page.map(publisherPoint), hasMore: found.count > page.count))
        } catch {
            log.error("the outbox cannot be read: \(error)")
            inbox.yield(.page(feed, [], hasMore: false))
        }
    }

    /// Makes refused points wait again, all when no ids are given; says how many.
    public func retry(_ ids: [Int64]?) async throws(OutboxError) -> Int {
        var wanted = ids.map(Set.init) ?? []
        if ids == nil {
            let reader = OutboxReader(folder: outbox.files.folder)
            var last = Int64.min
            while let page = Optional(try await reader.deadLetters(after: last)), let end = page.last {
                last = end.id
                wanted.formUnion(page.map(\.id))
            }
        }
        let count = try await outbox.retry(wanted.sorted())
        for feed in outbox.statistics.feeds.keys {
            let revived = try await waitingPoints(of: feed) { wanted.contains($0.id) }
            if !revived.isEmpty { inbox.yield(.accepted(revived.map(publisherPoint))) }
        }
        return count
    }

    /// Drops all points of a feed that are not being sent; says how many.
    public func drop(_ feed: FeedKey) async throws(OutboxError) -> Int {
        await takeArrivals(of: feed)
        let waiting = try await waitingPoints(of: feed) { _ in true }
        let count = try await outbox.drop(feed: feed)
        inbox.yield(.evicted(feed, waiting.map { Int($0.id) }))
        return count
    }

    private func waitingPoints(of feed: FeedKey, where isWanted: (OutboxPoint) -> Bool) async throws(OutboxError)
        -> [OutboxPoint]
    {
        var found: [OutboxPoint] = []
        var last: Int64?
        while true {
            let page = try await outbox.points(of: feed, beyond: last, limit: 1000)
            guard let end = page.last else { return found }
            last = end.id
            found += page.filter(isWanted)
        }
    }

    private func publisherPoint(_ point: OutboxPoint) -> PublisherPoint {
        // The boot-time instant of a time of this boot; what is older than the boot is not live anyway.
        let (wall, boot) = (time.wall(), time.boot())
        let born = boot.nanoseconds &- (wall.nanoseconds &- point.point.createdAt.nanoseconds)
        let isOfThisBoot = born > 0 && point.attempts == 0
        return PublisherPoint(
            id: Int(point.id),
            point: point.point,
            bornAt: isOfThisBoot ? BootInstant(nanoseconds: min(born, boot.nanoseconds)) : nil,
            attempts: point.attempts
        )
    }
}
