internal import DataPoints
internal import Diagnostics
internal import Outbox

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

    /// Hands over points that were committed since the last time.
    func takeArrivals() async {
        for (feed, counts) in outbox.statistics.feeds where counts.pending > 0 {
            while true {
                do {
                    let points = try await outbox.points(of: feed, beyond: told[feed], limit: 100)
                    guard let last = points.last else { break }
                    told[feed] = last.id
                    inbox.yield(.accepted(points.map(publisherPoint)))
                    if points.count < 100 { break }
                } catch {
                    log.error("the outbox cannot be read: \(error)")
                    return
                }
            }
        }
    }

    /// Reads a page of points that wait, those of an interrupted run among them.
    func page(_ feed: FeedKey, after id: Int, limit: Int) async {
        do {
            var found: [OutboxPoint] = []
            for state in [PointState.waiting, .doubt, .sending] {
                found += try await outbox.points(of: feed, in: state, beyond: Int64(id), limit: limit + 1)
            }
            found.sort { $0.id < $1.id }
            let page = Array(found.prefix(limit))
            if let last = page.last, last.id > told[feed] ?? .min { told[feed] = last.id }
            inbox.yield(.page(feed, page.map(publisherPoint), hasMore: found.count > limit))
        } catch {
            log.error("the outbox cannot be read: \(error)")
            inbox.yield(.page(feed, [], hasMore: false))
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
