import Diagnostics
import MQTT
import TestKit

/// Bytes of the protocol, written out: tests do not use an encoder of ours.
enum Bytes {
    static let connackAccepted: [UInt8] = [0x20, 0x02, 0x00, 0x00]
    static let disconnect: [UInt8] = [0xe0, 0x00]

    static func connack(_ code: UInt8) -> [UInt8] { [0x20, 0x02, 0x00, code] }
    static func puback(_ id: UInt8) -> [UInt8] { [0x40, 0x02, 0x00, id] }
    static func suback(_ id: UInt8, _ code: UInt8) -> [UInt8] { [0x90, 0x03, 0x00, id, code] }
}

extension MQTTConfiguration {
    /// For a server on 127.0.0.1.
    static func local(_ port: Int, _ change: (inout MQTTConfiguration) -> Void = { _ in }) -> MQTTConfiguration {
        var configuration = MQTTConfiguration(host: "127.0.0.1", port: port)
        change(&configuration)
        return configuration
    }
}

/// The error of something that should fail.
func failure(_ body: () async throws -> Void) async throws -> MQTTError? {
    do {
        try await body()
        return nil
    } catch let error as MQTTError {
        return error
    }
}

/// The first `count` messages of a subscription.
func first(_ count: Int, of subscription: MQTTSubscription) async -> [MQTTMessage] {
    var messages: [MQTTMessage] = []
    for await message in subscription.messages {
        messages.append(message)
        if messages.count == count { break }
    }
    return messages
}

extension MQTTConnection {
    /// Publishes text.
    func publish(_ text: String, to topic: String, qos: MQTTQoS = .atLeastOnce, retain: Bool = false) async throws {
        try await publish(Array(text.utf8), to: topic, qos: qos, retain: retain)
    }
}
