internal import AdafruitIOClient
internal import Diagnostics
internal import Feeds
internal import MQTT
internal import Publisher

extension PublisherAccess {
    /// What the configuration says about reaching the account.
    init(_ configuration: Configuration, key: Secret) throws(AdafruitIOClientError) {
        let account = configuration.account
        var connection = MQTTConfiguration(
            host: account.mqtt.host,
            port: account.mqtt.port,
            tls: account.mqtt.isSecure ? TLSConfiguration(caFile: account.caFile) : nil
        )
        connection.username = account.username
        connection.password = key
        connection.clientID = ClientID.text(name: configuration.name)
        self.init(
            connection: connection,
            username: account.username,
            controlFeed: configuration.control.feed,
            client: try AdafruitIOClient(configuration, key: key)
        )
    }
}

extension PublisherSettings {
    /// What the configuration says about delivery.
    init(_ configuration: Configuration) {
        self.init()
        let delivery = configuration.account.delivery
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
