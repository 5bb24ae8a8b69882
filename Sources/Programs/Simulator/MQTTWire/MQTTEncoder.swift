/// The packets that a server sends.
enum MQTTEncoder {
    static func connack(_ code: UInt8) -> [UInt8] { [0x20, 0x02, 0x00, code] }

    static func puback(_ id: UInt16) -> [UInt8] { short(0x40, id) }

    static func pubrec(_ id: UInt16) -> [UInt8] { short(0x50, id) }

    static func pubrel(_ id: UInt16) -> [UInt8] { short(0x62, id) }

    static func pubcomp(_ id: UInt16) -> [UInt8] { short(0x70, id) }

    static func unsuback(_ id: UInt16) -> [UInt8] { short(0xB0, id) }

    static let pingresp: [UInt8] = [0xD0, 0x00]

    static func suback(_ id: UInt16, _ codes: [UInt8]) -> [UInt8] {
        packet(0x90, [UInt8(id >> 8), UInt8(id & 0xFF)] + codes)
    }

    static func publish(_ message: PublishPacket) -> [UInt8] {
        let topic = Array(message.topic.utf8.prefix(65_535))
        var body: [UInt8] = [UInt8(topic.count >> 8), UInt8(topic.count & 0xFF)]
        body.reserveCapacity(topic.count + message.payload.count + 4)
        body += topic
        if message.qos > 0 { body += [UInt8(message.id >> 8), UInt8(message.id & 0xFF)] }
        body += message.payload
        return packet(0x30 | (message.isDuplicate ? 8 : 0) | message.qos << 1, body)
    }

    private static func short(_ header: UInt8, _ id: UInt16) -> [UInt8] {
        [header, 0x02, UInt8(id >> 8), UInt8(id & 0xFF)]
    }

    private static func packet(_ header: UInt8, _ body: [UInt8]) -> [UInt8] {
        var bytes = [header]
        var length = body.count
        repeat {
            let low = UInt8(length & 0x7F)
            length >>= 7
            bytes.append(length > 0 ? low | 0x80 : low)
        } while length > 0
        return bytes + body
    }
}
