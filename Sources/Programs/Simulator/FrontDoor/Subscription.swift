internal import AdafruitIO

/// A filter that a client has subscribed to.
struct Subscription: Sendable {
    /// What the filter stands for.
    enum Target: Sendable {
        case feed(user: String, FeedIdentifier, PayloadForm)
        case group(user: String, identifier: String, PayloadForm)
        case throttle(user: String)
        case errors(user: String)
        case time(TimeTopic)
        /// Known to the service, but nothing is ever sent there.
        case silent
        /// Own topics by wildcard.
        case wildcard(user: String, TopicFilter)
    }

    let filter: String
    let target: Target
    var qos: UInt8

    /// Understands a filter of `user`; nil when the service has no such resource.
    init?(_ filter: String, qos: UInt8, user: String) {
        guard let parsed = TopicFilter(filter) else { return nil }
        self.filter = filter
        // QoS 2 is not granted.
        self.qos = min(qos, 1)
        if parsed.hasWildcard {
            guard parsed.levels.count >= 2, parsed.levels[0] == user,
                ["feeds", "f", "groups", "g", "+", "#", "throttle", "errors"].contains(parsed.levels[1])
            else { return nil }
            target = .wildcard(user: user, parsed)
            return
        }
        switch AdafruitIOTopic(filter) {
        case .feed(let topic)?:
            guard !topic.isGet, let identifier = FeedIdentifier(topic.identifier) else { return nil }
            target = .feed(user: topic.user, identifier, topic.form)
        case .group(let topic)?:
            guard !topic.isGet else { return nil }
            target = .group(user: topic.user, identifier: topic.identifier, topic.form)
        case .throttle(let user)?: target = .throttle(user: user)
        case .errors(let user)?: target = .errors(user: user)
        case .time(let topic)?: target = .time(topic)
        case .integration?: target = .silent
        case nil: return nil
        }
    }

    /// The account whose resource this is; nil for those of everybody.
    var user: String? {
        switch target {
        case .feed(let user, _, _), .group(let user, _, _), .throttle(let user), .errors(let user),
            .wildcard(let user, _):
            user
        case .time, .silent: nil
        }
    }

    /// Whether messages of the topic `{user}/{kind}` come here.
    func receives(notice kind: NoticeKind, of account: String) -> Bool {
        switch target {
        case .throttle(let user): kind == .throttle && user == account
        case .errors(let user): kind == .errors && user == account
        case .wildcard(let user, let filter): user == account && filter.matches([user, kind.rawValue])
        default: false
        }
    }
}

/// The two topics that the service complains on.
enum NoticeKind: String, Sendable {
    case throttle
    case errors
}
