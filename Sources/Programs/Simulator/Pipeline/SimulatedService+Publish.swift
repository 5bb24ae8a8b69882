internal import AdafruitIO
internal import DataPoints
internal import Diagnostics

extension SimulatedService {
    /// Takes a message through the whole way: permission, size, rate, name, store, fan out.
    ///
    /// Nothing goes back to the sender but messages on `errors` and `throttle`.
    func publish(_ message: PublishPacket, by publisher: Publisher) {
        let request = publisher.request("PUBLISH", message.topic)
        do throws(Rejection) {
            guard meter(publisher.account, { $0.banLeft(at: $1) }) == nil else {
                throw .blocked(ServiceTexts.blocked(request))
            }
            switch AdafruitIOTopic(message.topic) {
            case .feed(let topic)?:
                try feedMessage(topic, message, by: publisher, request)
            case .group(let topic)?:
                guard topic.user == publisher.account else { throw .failed(ServiceTexts.onlySharedFeeds(request)) }
                if topic.isGet {
                    try resend(topic, isGroup: true, by: publisher)
                } else {
                    try groupMessage(topic, message, by: publisher, request)
                }
            case let topic?:
                let isForeign = topic.user.map { $0 != publisher.account } ?? false
                throw .failed(
                    isForeign ? ServiceTexts.onlySharedFeeds(request) : ServiceTexts.invalidTopic(request)
                )
            case nil:
                throw .failed(ServiceTexts.invalidTopic(request))
            }
        } catch {
            rejected(error, by: publisher.account)
        }
    }

    private func feedMessage(
        _ topic: ResourceTopic,
        _ message: PublishPacket,
        by publisher: Publisher,
        _ request: ServiceTexts.Request
    ) throws(Rejection) {
        guard let identifier = FeedIdentifier(topic.identifier) else {
            throw .failed(ServiceTexts.invalidTopic(request))
        }
        if topic.user != publisher.account {
            guard mayUse(identifier, of: topic.user, by: publisher.account, toWrite: !topic.isGet) else {
                throw .failed(ServiceTexts.notAuthorized(request))
            }
        }
        if topic.isGet { return try resend(topic, isGroup: false, by: publisher) }
        guard let payload = FeedPayload(message.payload, form: topic.form) else {
            throw .failed(ServiceTexts.badPayload(request, "the payload is not UTF-8"))
        }
        let known = try asRejection { () throws(StoreError) in
            try store.feed(account: topic.user, identifier: topic.identifier)
        }
        try checkSize(payload.value, known, request)
        try take(1, from: publisher.account)
        let feed = try existing(known, identifier, of: topic.user, paidBy: publisher.account, request)
        let datum = try asRejection { () throws(StoreError) in
            try keep(payload.value, location: payload.location, createdAt: nil, in: feed, account: topic.user)
        }
        fanOut([FeedUpdate(feed: feed, datum: datum)], of: topic.user, qos: min(message.qos, 1))
    }

    private func groupMessage(
        _ topic: ResourceTopic,
        _ message: PublishPacket,
        by publisher: Publisher,
        _ request: ServiceTexts.Request
    ) throws(Rejection) {
        let payload: GroupPayload
        do throws(GroupPayload.Failure) {
            payload = try GroupPayload(message.payload, form: topic.form)
        } catch {
            throw .failed(ServiceTexts.badPayload(request, "the payload is no group message"))
        }
        let group = try group(topic.identifier, of: topic.user, request)
        var updates: [FeedUpdate] = []
        // The whole message is taken or refused by the rate; what is then wrong with one value does not stop the others.
        let known = try asRejection { () throws(StoreError) in
            try payload.entries.map { (entry) throws(StoreError) in
                try store.feed(account: topic.user, identifier: "\(group.key).\(entry.key)")
            }
        }
        for (entry, feed) in zip(payload.entries, known) { try checkSize(entry.value, feed, request) }
        try take(payload.entries.count, from: publisher.account)
        var problem: Rejection?
        for (entry, feed) in zip(payload.entries, known) {
            do throws(Rejection) {
                let identifier = FeedIdentifier(group: group.key, feed: entry.key)
                let feed = try existing(feed, identifier, of: topic.user, paidBy: publisher.account, request)
                let datum = try asRejection { () throws(StoreError) in
                    try keep(entry.value, location: payload.location, createdAt: nil, in: feed, account: topic.user)
                }
                updates.append(FeedUpdate(feed: feed, datum: datum))
            } catch {
                problem = error
            }
        }
        fanOut(updates, of: topic.user, qos: min(message.qos, 1))
        if let problem { throw problem }
    }

    private func checkSize(
        _ value: String,
        _ feed: StoredFeed?,
        _ request: ServiceTexts.Request
    ) throws(Rejection) {
        let most = feed?.history == false ? PointLimits.valueBytesWithoutHistory : PointLimits.valueBytes
        guard value.utf8.count <= most else { throw .failed(ServiceTexts.tooLarge(request, most: most)) }
    }

    private func take(_ points: Int, from account: String) throws(Rejection) {
        guard points > 0 else { return }
        switch meter(account, { $0.takePoints(points, at: $1) }) {
        case .taken: return
        case .throttled(let seconds):
            count(account) { $0.rejected += points }
            throw .throttled(seconds: seconds)
        case .banned(let seconds, _):
            count(account) { $0.rejected += points }
            throw .banned(seconds: seconds)
        }
    }

    /// The feed, made when it is missing: the identifier in the topic becomes its name.
    private func existing(
        _ known: StoredFeed?,
        _ identifier: FeedIdentifier,
        of user: String,
        paidBy account: String,
        _ request: ServiceTexts.Request
    ) throws(Rejection) -> StoredFeed {
        if let known { return known }
        guard NameRules.isName(identifier.feed) else {
            throw .failed(ServiceTexts.validation(NameRules.complaint))
        }
        if let name = identifier.group { _ = try group(name, of: user, request) }
        let feed = try asRejection(request) { () throws(StoreError) in
            try store.createFeed(account: user, name: identifier.feed, group: identifier.group)
        }
        meter(account) { $0.notePoints(1, at: $1) }
        return feed
    }

    private func group(
        _ identifier: String,
        of user: String,
        _ request: ServiceTexts.Request
    ) throws(Rejection) -> StoredGroup {
        try asRejection(request) { () throws(StoreError) in
            if let group = try store.group(account: user, identifier: identifier) { return group }
            guard options.createsGroups, NameRules.isName(identifier) else { throw .notFound("group") }
            return try store.createGroup(account: user, name: identifier)
        }
    }

    private func rejected(_ rejection: Rejection, by account: String) {
        switch rejection {
        case .throttled(let seconds):
            tell(account, .throttle, ServiceTexts.dataRate(user: account, seconds: seconds))
        case .banned(let seconds):
            announceBan(of: account, seconds: seconds)
        case .blocked(let text):
            count(account) { $0.rejected += 1 }
            tell(account, .errors, text)
        case .failed(let text):
            count(account) { $0.failedPublishes += 1 }
            tell(account, .errors, text)
            let ban = meter(account) { $0.failedPublish(at: $1) }
            if let ban { announceBan(of: account, seconds: ban) }
        case .store(let error):
            log.error("a message was not stored: \(error)")
        }
    }

    private func asRejection<Result>(
        _ request: ServiceTexts.Request? = nil,
        _ body: () throws(StoreError) -> Result
    ) throws(Rejection) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            switch (error, request) {
            case (.feedLimit(let most), let request?): throw .failed(ServiceTexts.feedLimit(request, most: most))
            case (.validation(let sentences), _):
                throw .failed(ServiceTexts.validation(sentences.joined(separator: ", ")))
            case (.notFound, let request?), (.groupLimit, let request?):
                throw .failed(ServiceTexts.notAuthorized(request))
            default: throw .store(error)
            }
        }
    }
}
