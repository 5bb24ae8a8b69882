public import DataPoints
internal import Diagnostics
public import Outbox

extension PublisherDriver {
    /// Notes durably that these points of a feed are being sent; nil when the disk would not have it.
    ///
    /// - Returns: those that may be sent. The machine hears of others, which have left the outbox.
    func note(_ points: [PublisherPoint], of feed: FeedKey) async -> [PublisherPoint]? {
        guard let marked = await note(points) else { return nil }
        let gone = points.map(\.id).filter { !marked.contains(Int64($0)) }
        if !gone.isEmpty { inbox.yield(.gone(feed, gone)) }
        return points.filter { marked.contains(Int64($0.id)) }
    }

    /// Notes durably that these points are being sent; those that have left the outbox are left out. Nil when the disk
    /// would not have it.
    func note(_ points: [PublisherPoint]) async -> Set<Int64>? {
        do {
            return try await outbox.markSending(points.map { Int64($0.id) })
        } catch {
            log.error("nothing is sent while the outbox cannot be written: \(error)")
            return nil
        }
    }

    /// Hands over points that were committed since the last time, each once, one call after the other, and says where
    /// others have gone.
    func takeArrivals() async {
        let before = taking
        let taking = Task {
            await before?.value
            let feeds = outbox.statistics.feeds
            await takeNews()
            tellOfChanges(feeds)
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
        for point in news.points where point.id > told[point.point.feed] ?? newestAtStart {
            told[point.point.feed] = point.id
            new.append(publisherPoint(point))
        }
        if !new.isEmpty { inbox.yield(.accepted(new)) }
    }

    /// Says for which feeds the outbox did more than take points and let go of those that we said.
    private func tellOfChanges(_ feeds: [FeedKey: OutboxCounts]) {
        let marks = feeds.mapValues { OutboxMark(evicted: $0.evicted, untimed: $0.states[.untimed] ?? 0) }
        let changed = marks.filter { outboxMarks[$0.key] != $0.value }.keys
        outboxMarks = marks
        if !changed.isEmpty { inbox.yield(.changed(changed.sorted { $0.text < $1.text })) }
    }

    /// Compares all feeds with the outbox: it may have put points back that a damaged file held.
    func compareWithOutbox() {
        inbox.yield(.changed(outbox.statistics.feeds.keys.sorted { $0.text < $1.text }))
    }

    func count(_ feed: FeedKey, newest: Int, among ids: [Int]) async {
        do {
            let standing = try await outbox.standing(of: feed, upTo: Int64(newest), among: ids.map { Int64($0) })
            inbox.yield(.counted(feed, waiting: standing.count, gone: standing.gone.map { Int($0) }))
        } catch {
            log.error("the outbox cannot be read: \(error)")
            // As if nothing had changed: it is asked again within a minute.
            let waiting = outbox.statistics.feeds[feed]?.pending ?? 0
            inbox.yield(.counted(feed, waiting: waiting, gone: []))
        }
    }

    private func takeArrivals(of feed: FeedKey) async {
        guard !machine.settings.isPlain else { return await countArrivals(of: feed) }
        while true {
            do {
                let page = try await outbox.points(of: feed, beyond: told[feed] ?? newestAtStart, limit: 100)
                // Another call may have told of some of them meanwhile.
                let new = page.filter { $0.id > told[feed] ?? newestAtStart }
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
                let found = try await outbox.waiting(of: feed, beyond: last ?? newestAtStart)
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
            let newest = told[feed] ?? newestAtStart
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
        let count = if let ids { try await outbox.retry(ids) } else { try await outbox.retryAll() }
        compareWithOutbox()
        return count
    }

    /// Drops all points of a feed that are not being sent; says how many.
    public func drop(_ feed: FeedKey) async throws(OutboxError) -> Int {
        let count = try await outbox.drop(feed: feed)
        inbox.yield(.changed([feed]))
        return count
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

/// What shows that points of a feed went or came without our doing.
struct OutboxMark: Equatable {
    var evicted: Int
    var untimed: Int
}
