import TestKit

/// A broker's side of MQTT 3.1.1, written out byte by byte.
enum Wire {
    static func connack(_ code: UInt8) -> [UInt8] { [0x20, 0x02, 0x00, code] }

    /// The answer to a SUBSCRIBE of one filter.
    static func suback(_ packet: [UInt8], _ code: UInt8 = 1) -> [UInt8] {
        guard packet.count > 6, packet[0] >> 4 == 8 else { return [] }
        return [0x90, 0x03, packet[2], packet[3], code]
    }

    /// The answer to a PUBLISH of QoS 1.
    static func puback(_ packet: [UInt8]) -> [UInt8] {
        // Anything else is a test that went wrong: it gets no answer.
        guard packet.count > 6, packet[0] >> 4 == 3 else { return [] }
        let length = Int(packet[2]) << 8 | Int(packet[3])
        return [0x40, 0x02, packet[4 + length], packet[5 + length]]
    }

    /// A PUBLISH of QoS 0, as subscribers get it.
    static func publish(_ topic: String, _ text: String) -> [UInt8] {
        let body = [0x00, UInt8(topic.utf8.count)] + Array(topic.utf8) + Array(text.utf8)
        let length =
            body.count < 128 ? [UInt8(body.count)] : [UInt8(body.count & 0x7f) | 0x80, UInt8(body.count >> 7)]
        return [0x30] + length + body
    }

    /// The topic and the payload of a PUBLISH of QoS 1 that is shorter than 128 bytes.
    static func text(_ packet: [UInt8]) -> String {
        let length = Int(packet[2]) << 8 | Int(packet[3])
        let topic = String(decoding: packet[4..<4 + length], as: UTF8.self)
        return "\(topic) \(String(decoding: packet[(6 + length)...], as: UTF8.self))"
    }
}

extension [ScriptedPeer.Step] {
    /// Lets a link in: CONNECT, then the control feed, errors and throttle.
    static var welcome: [ScriptedPeer.Step] {
        let subscription: [ScriptedPeer.Step] = [.awaitPacket, .reply { Wire.suback($0[$0.count - 1]) }]
        return [.awaitPacket, .send(Wire.connack(0))] + subscription + subscription + subscription
    }

    /// Takes a PUBLISH and acknowledges it.
    static var taken: [ScriptedPeer.Step] { [.awaitPacket, .reply { Wire.puback($0[$0.count - 1]) }] }
}
