internal import Diagnostics
internal import MQTT
internal import Publisher

extension MQTTLinkSettings {
    /// What the configuration says about the MQTT link.
    init(_ configuration: Configuration, key: Secret, pointsPerMinute: Int) {
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
            pointsPerMinute: pointsPerMinute
        )
    }
}
