internal import AdafruitIOClient
internal import Diagnostics
internal import Feeds
internal import MQTT
internal import Publisher

extension PublisherAccess {
    /// What the configuration says about reaching the account, or the broker.
    init(_ configuration: Configuration, key: Secret?) throws(AdafruitIOClientError) {
        let account = configuration.account
        var connection = MQTTConfiguration(
            host: account.mqtt.host,
            port: account.mqtt.port,
            tls: account.mqtt.isSecure ? TLSConfiguration(caFile: account.caFile) : nil
        )
        connection.username = account.username.isEmpty ? nil : account.username
        connection.password = key
        connection.clientID = ClientID.text(name: configuration.name)
        if let broker = configuration.broker {
            connection.inFlightWindow = PublisherSettings.unacknowledged
            self.init(connection: connection, broker: broker)
        } else {
            self.init(
                connection: connection,
                username: account.username,
                controlFeed: configuration.control.feed,
                client: try AdafruitIOClient(configuration, key: key ?? Secret(""))
            )
        }
    }
}

extension PublisherSettings {
    /// How many messages a plain broker may have without having acknowledged them.
    static let unacknowledged = 100
    /// How many messages to a plain broker are prepared at a time, those among them.
    static let prepared = 2048

    /// What the configuration says about delivery.
    init(_ configuration: Configuration) {
        self.init()
        let delivery = configuration.account.delivery
        if configuration.account.isPlain {
            profile = .plain(
                inFlight: Self.prepared,
                pointsPerMessage: configuration.account.broker.pointsPerMessage
            )
        }
        if case .pointsPerMinute(let points) = configuration.account.plan { plan = points }
        share = delivery.share
        backlogShare = delivery.backlogShare
        fallbackAfter = delivery.fallbackAfter
        liveWithin = delivery.liveWithin
        settle = delivery.settle
        for forward in configuration.forwards where !followed.contains(forward.feed) { followed.append(forward.feed) }
        rules = configuration.rules.map(\.rule).map { rule in
            RuleDemand(feed: rule.feed, interval: rule.every, weight: rule.weight)
        }
    }
}
