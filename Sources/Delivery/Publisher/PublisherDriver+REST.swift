internal import AdafruitIO
internal import AdafruitIOClient
internal import DataPoints
internal import Diagnostics
internal import HTTPClient

extension PublisherDriver {
    func post(_ request: Int, _ feed: FeedKey, _ points: [PublisherPoint]) async {
        guard let points = await note(points, of: feed) else {
            inbox.yield(.answered(request: request, .notSent(.diskFull)))
            return
        }
        guard !points.isEmpty else { return }
        answer(request) { client throws(AdafruitIOClientError) -> (RESTOutcome, Timestamp?) in
            if points.count == 1, let point = points.first {
                let reply = try await client.create(point.point)
                return (.stored, reply.date)
            }
            let reply = try await client.create(points.map(\.point), in: feed)
            return (.stored, reply.date)
        }
    }

    func lookUp(_ request: Int, _ feed: FeedKey, _ from: Timestamp, _ to: Timestamp) {
        answer(request) { client throws(AdafruitIOClientError) -> (RESTOutcome, Timestamp?) in
            let reply = try await client.points(in: feed, PointQuery(start: from, end: to, limit: 1000))
            let found = reply.value.points.compactMap { point in
                point.createdAt.map { StoredPoint(id: point.id, text: point.value, createdAt: $0) }
            }
            return (.listed(found, isComplete: reply.value.next == nil || reply.value.points.count < 1000), reply.date)
        }
    }

    func delete(_ request: Int, _ feed: FeedKey, _ point: StoredPoint) {
        answer(request) { client throws(AdafruitIOClientError) -> (RESTOutcome, Timestamp?) in
            let reply = try await client.deletePoint(point.id, in: feed)
            return (.deleted, reply.date)
        }
    }

    func readThrottle(_ request: Int) {
        answer(request) { client throws(AdafruitIOClientError) -> (RESTOutcome, Timestamp?) in
            let reply = try await client.throttle()
            return (.throttle(limit: reply.value.pointsPerMinute, used: reply.value.points), reply.date)
        }
    }

    private func answer(
        _ request: Int,
        _ body: @escaping @Sendable (AdafruitIOClient) async throws(AdafruitIOClientError) -> (RESTOutcome, Timestamp?)
    ) {
        guard let client = access.client else {
            inbox.yield(.answered(request: request, .notSent(.refused)))
            return
        }
        Task {
            do throws(AdafruitIOClientError) {
                let (outcome, date) = try await body(client)
                if let date { told(serviceTime: date) }
                inbox.yield(.answered(request: request, outcome))
            } catch {
                log.debug("REST: \(error)")
                if let date = error.refusal?.date { told(serviceTime: date) }
                inbox.yield(.answered(request: request, RESTOutcome(error)))
            }
        }
    }
}

extension RESTOutcome {
    /// What became of a request that failed.
    init(_ error: AdafruitIOClientError) {
        switch error {
        case .refused(let refusal):
            self.init(
                status: refusal.status,
                text: refusal.messages.joined(separator: "; "),
                retryAfter: refusal.wait
            )
        case .network(let network):
            let reason = LinkReason(network.reason)
            self = network.mayHaveArrived ? .lost(reason) : .notSent(reason)
        case .badAddress, .plaintextRefused: self = .notSent(.refused)
        case .notUnderstood: self = .lost(.closed)
        }
    }
}

extension LinkReason {
    init(_ reason: HTTPClientError.Reason) {
        self =
            switch reason {
            case .dns: .dns
            case .connect: .refused
            case .certificate, .tls: .tls
            case .timeout: .keepAlive
            default: .closed
            }
    }
}
