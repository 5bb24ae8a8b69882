internal import AdafruitIO
internal import Diagnostics

extension SimulatedService {
    /// Sends stored values of one group to all who listen, on every form of the topic and in the spelling that each used.
    func fanOut(_ updates: [FeedUpdate], of account: String, qos: UInt8) {
        let group = GroupUpdate(updates)
        for session in sessions.all {
            for update in updates {
                deliver(to: session, qos) { collect(update, of: account, for: $0, into: &$1) }
            }
            if let group {
                deliver(to: session, qos) { collect(group, of: account, for: $0, into: &$1) }
            }
        }
    }

    /// A message to one client only, in answer to `/get`, on the topic without it.
    func resend(_ topic: ResourceTopic, isGroup: Bool, by publisher: Publisher) throws(Rejection) {
        if options.getCosts {
            switch meter(publisher.account, { $0.takePoints(1, at: $1) }) {
            case .taken: break
            case .throttled(let seconds): throw .throttled(seconds: seconds)
            case .banned(let seconds, _): throw .banned(seconds: seconds)
            }
        }
        let key = SessionRegistry.Key(account: publisher.account, client: publisher.client)
        guard let session = sessions.all.first(where: { $0.client == key }) else { return }
        var base = topic
        base.isGet = false
        let name = (isGroup ? AdafruitIOTopic.group(base) : .feed(base)).text
        do throws(StoreError) {
            if let payload = try isGroup ? lastOfGroup(base) : lastOfFeed(base) {
                session.send(name, payload, qos: session.subscriptions[name]?.qos ?? 0)
            } else if options.answersEmptyGet {
                session.send(name, [], qos: 0)
            }
        } catch {
            throw .store(error)
        }
    }

    private func lastOfFeed(_ topic: ResourceTopic) throws(StoreError) -> [UInt8]? {
        guard let feed = try store.feed(account: topic.user, identifier: topic.identifier),
            let datum = try store.last(feed)
        else { return nil }
        return FeedUpdate(feed: feed, datum: datum).payload(topic.form, fullJSON: options.fullJSON)
    }

    private func lastOfGroup(_ topic: ResourceTopic) throws(StoreError) -> [UInt8]? {
        guard let group = try store.group(account: topic.user, identifier: topic.identifier) else { return nil }
        var updates: [FeedUpdate] = []
        for feed in try store.feeds(account: topic.user, group: group) {
            if let datum = try store.last(feed) { updates.append(FeedUpdate(feed: feed, datum: datum)) }
        }
        guard let update = GroupUpdate(updates) else { return nil }
        return Array(update.payload.text(form: topic.form).utf8)
    }

    /// Messages by topic, and the best QoS that they were asked for with.
    private typealias Outgoing = [String: (payload: [UInt8], qos: UInt8)]

    private func deliver(
        to session: MQTTSession,
        _ qos: UInt8,
        _ collect: (Subscription, inout Outgoing) -> Void
    ) {
        var messages: Outgoing = [:]
        for subscription in session.subscriptions.values { collect(subscription, &messages) }
        for (topic, message) in messages.sorted(by: { $0.key < $1.key }) {
            session.send(topic, message.payload, qos: min(qos, message.qos))
        }
    }

    private func collect(
        _ update: FeedUpdate,
        of account: String,
        for subscription: Subscription,
        into messages: inout Outgoing
    ) {
        switch subscription.target {
        case .feed(let user, let identifier, let form):
            guard user == account, update.isNamed(identifier) else { return }
            messages.add(subscription.filter, subscription.qos) { update.payload(form, fullJSON: options.fullJSON) }
        case .wildcard(let user, let filter):
            guard user == account else { return }
            for kind in ["f", "feeds"] {
                for form in PayloadForm.allCases {
                    let levels = [user, kind, update.feed.fullKey] + form.levels
                    guard filter.matches(levels) else { continue }
                    messages.add(levels.joined(separator: "/"), subscription.qos) {
                        update.payload(form, fullJSON: options.fullJSON)
                    }
                }
            }
        default: return
        }
    }

    private func collect(
        _ update: GroupUpdate,
        of account: String,
        for subscription: Subscription,
        into messages: inout Outgoing
    ) {
        switch subscription.target {
        case .group(let user, let identifier, let form):
            guard user == account, identifier == update.key || identifier == update.name else { return }
            messages.add(subscription.filter, subscription.qos) { Array(update.payload.text(form: form).utf8) }
        case .wildcard(let user, let filter):
            guard user == account else { return }
            for kind in ["g", "groups"] {
                for form in PayloadForm.allCases {
                    let levels = [user, kind, update.key] + form.levels
                    guard filter.matches(levels) else { continue }
                    messages.add(levels.joined(separator: "/"), subscription.qos) {
                        Array(update.payload.text(form: form).utf8)
                    }
                }
            }
        default: return
        }
    }
}

extension PayloadForm {
    fileprivate var levels: [String] { self == .plain ? [] : [rawValue] }
}

extension [String: (payload: [UInt8], qos: UInt8)] {
    fileprivate mutating func add(_ topic: String, _ qos: UInt8, _ payload: () -> [UInt8]) {
        if let known = self[topic] {
            self[topic] = (known.payload, Swift.max(known.qos, qos))
        } else {
            self[topic] = (payload(), qos)
        }
    }
}
