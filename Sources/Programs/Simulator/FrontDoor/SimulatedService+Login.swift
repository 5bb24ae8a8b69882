internal import AdafruitIO
internal import Diagnostics
internal import FastJSON

extension SimulatedService {
    /// The CONNACK code for a CONNECT.
    func login(_ packet: ConnectPacket) -> UInt8 {
        guard let user = packet.user, let password = packet.password,
            let text = String(validating: password, as: UTF8.self)
        else { return ConnackMeaning.badCredentials.rawValue }
        count(user) { $0.logins += 1 }
        let code = loginCode(packet, user: user, key: Secret(text))
        if code != 0 { count(user) { $0.refusedLogins += 1 } }
        return code
    }

    private func loginCode(_ packet: ConnectPacket, user: String, key: Secret) -> UInt8 {
        if let code = faults.connackCode() { return code }
        guard packet.isClean || !packet.clientID.isEmpty else { return ConnackMeaning.identifierRejected.rawValue }
        guard accounts.contains(user) else { return options.wrongKeyCode }
        let bans = options.loginLimitBans
        switch meter(user, { $0.login(at: $1, bans: bans) }) {
        case .taken: break
        case .throttled: return ConnackMeaning.throttled.rawValue
        case .banned(let seconds, let isNew):
            if isNew { announceBan(of: user, seconds: seconds) }
            return ConnackMeaning.banned.rawValue
        }
        return isKey(key, of: user) ? 0 : options.wrongKeyCode
    }

    /// Takes a SUBSCRIBE of one filter, or not; what is to be said goes out after the SUBACK.
    func subscribe(_ filter: SubscribeFilter, by client: Publisher) -> (Subscription?, complaint: (() -> Void)?) {
        let request = client.request("SUBSCRIBE", filter.filter)
        count(client.account) { $0.subscribes += 1 }
        switch meter(client.account, { $0.subscribe(at: $1) }) {
        case .banned:
            return refuse(ServiceTexts.blocked(request), by: client, isCounted: false)
        case .tooMany:
            return refuse(ServiceTexts.tooManyRequests(request), by: client)
        case .taken(let warning):
            guard let subscription = Subscription(filter.filter, qos: filter.qos, user: client.account) else {
                return refuse(ServiceTexts.invalidTopic(request), by: client)
            }
            guard mayRead(subscription, client.account) else {
                return refuse(ServiceTexts.notAuthorized(request), by: client)
            }
            guard let warning else { return (subscription, nil) }
            return (
                subscription,
                { self.tell(client.account, .throttle, ServiceTexts.subscribesLeft(request, warning)) }
            )
        }
    }

    private func refuse(
        _ text: String,
        by client: Publisher,
        isCounted: Bool = true
    ) -> (Subscription?, complaint: (() -> Void)?) {
        count(client.account) { $0.failedSubscribes += 1 }
        let ban = isCounted ? meter(client.account) { $0.failedSubscribe(at: $1) } : nil
        return (
            nil,
            {
                self.tell(client.account, .errors, text)
                if let ban { self.announceBan(of: client.account, seconds: ban) }
            }
        )
    }

    private func mayRead(_ subscription: Subscription, _ account: String) -> Bool {
        guard let user = subscription.user, user != account else { return true }
        guard case .feed(_, let identifier, _) = subscription.target else { return false }
        return mayUse(identifier, of: user, by: account, toWrite: false)
    }

    /// Whether an account may read or write another's feed: it is public, or a permission says so.
    func mayUse(_ identifier: FeedIdentifier, of owner: String, by account: String, toWrite: Bool) -> Bool {
        guard accounts.contains(owner),
            let feed = try? store.feed(account: owner, identifier: identifier.description)
        else { return false }
        if !toWrite, feed.visibility == "public" { return true }
        let parents = ["feeds/\(feed.fullKey)", "feeds/\(feed.key)", "feeds/\(feed.id)"]
        return parents.contains { parent in
            let permissions = (try? store.records(account: owner, .permission, parent: parent)) ?? []
            return permissions.contains { permission in
                let mode = permission.body["mode"]?.string ?? "r"
                let scope = permission.body["scope"]?.string
                return mode.contains(toWrite ? "w" : "r")
                    && (scope == "public" || (scope == "user" && permission.body["scope_value"]?.string == account))
            }
        }
    }
}
