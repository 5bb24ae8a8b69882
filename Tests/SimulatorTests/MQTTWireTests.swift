import Testing

@testable import Simulator

@Suite("MQTT packets")
struct MQTTWireTests {
    private func decode(_ bytes: [UInt8]) throws -> MQTTPacket? {
        var decoder = MQTTDecoder()
        decoder.append(bytes)
        return try decoder.next()
    }

    /// CONNECT as mosquitto_pub 2.0.11 sends it, with a will, user and password.
    static let connect: [UInt8] =
        [0x10, 0x27, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0xCE, 0x00, 0x3C]
        + [0x00, 0x02, 0x63, 0x31] + [0x00, 0x07] + Array("ada/f/w".utf8) + [0x00, 0x04] + Array("gone".utf8)
        + [0x00, 0x03] + Array("ada".utf8) + [0x00, 0x01, 0x6B]

    @Test("packets are read from literal bytes")
    func literal() throws {
        var connect = Self.connect
        connect[1] = UInt8(connect.count - 2)
        let expected = ConnectPacket(
            clientID: "c1",
            isClean: true,
            keepAlive: 60,
            user: "ada",
            password: [0x6B],
            will: ConnectPacket.Will(topic: "ada/f/w", payload: Array("gone".utf8), qos: 1)
        )
        #expect(try decode(connect) == .connect(expected))
        #expect(
            try decode([0x3B, 0x07, 0x00, 0x01, 0x61, 0x00, 0x0A, 0x68, 0x69])
                == .publish(
                    PublishPacket(
                        topic: "a",
                        payload: [0x68, 0x69],
                        qos: 1,
                        isRetained: true,
                        isDuplicate: true,
                        id: 10
                    )
                )
        )
        #expect(
            try decode([0x82, 0x0A, 0x12, 0x34, 0x00, 0x01, 0x61, 0x01, 0x00, 0x01, 0x62, 0x02])
                == .subscribe(id: 0x1234, filters: [.init(filter: "a", qos: 1), .init(filter: "b", qos: 2)])
        )
        #expect(try decode([0xA2, 0x05, 0x00, 0x02, 0x00, 0x01, 0x23]) == .unsubscribe(id: 2, filters: ["#"]))
        #expect(try decode([0xC0, 0x00]) == .pingreq)
        #expect(try decode([0xE0, 0x00]) == .disconnect)
        #expect(try decode([0x40, 0x02, 0x00, 0x07]) == .puback(7))
        #expect(try decode([0x62, 0x02, 0x00, 0x07]) == .pubrel(7))
    }

    @Test("a packet that comes byte by byte is the same, and two that come at once are two")
    func incremental() throws {
        var connect = Self.connect
        connect[1] = UInt8(connect.count - 2)
        var decoder = MQTTDecoder()
        for byte in connect.dropLast() {
            decoder.append([byte])
            #expect(try decoder.next() == nil)
        }
        decoder.append([connect[connect.count - 1]] + [0xC0, 0x00, 0xC0])

        guard case .connect? = try decoder.next() else {
            Issue.record("no CONNECT")
            return
        }
        #expect(try decoder.next() == .pingreq)
        #expect(try decoder.next() == nil)
    }

    @Test(
        "what is not MQTT 3.1.1 is refused",
        arguments: [
            [0x00, 0x00],  // type 0
            [0xF0, 0x00],  // type 15
            [0x20, 0x02, 0x00, 0x00],  // CONNACK from a client
            [0xC1, 0x00],  // flags on PINGREQ
            [0xC0, 0x01, 0x00],  // PINGREQ with a body
            [0x80, 0x06, 0x00, 0x01, 0x00, 0x01, 0x61, 0x00],  // SUBSCRIBE without its flags
            [0x82, 0x06, 0x00, 0x00, 0x00, 0x01, 0x61, 0x00],  // packet id 0
            [0x82, 0x02, 0x00, 0x01],  // no filter
            [0x82, 0x06, 0x00, 0x01, 0x00, 0x01, 0x61, 0x03],  // QoS 3
            [0x82, 0x07, 0x00, 0x01, 0x00, 0x02, 0x61, 0x23, 0x00],  // a#
            [0x82, 0x05, 0x00, 0x01, 0x00, 0x00, 0x00],  // an empty filter
            [0x36, 0x05, 0x00, 0x01, 0x61, 0x00, 0x01],  // QoS 3
            [0x38, 0x03, 0x00, 0x01, 0x61],  // DUP on QoS 0
            [0x30, 0x03, 0x00, 0x01, 0x2B],  // a wildcard in a topic
            [0x30, 0x02, 0x00, 0x00],  // an empty topic
            [0x30, 0x03, 0x00, 0x01, 0x00],  // U+0000
            [0x30, 0x04, 0x00, 0x02, 0xC3, 0x28],  // not UTF-8
            [0x30, 0x02, 0x00, 0x05],  // a topic longer than its packet
            [0x32, 0x03, 0x00, 0x01, 0x61],  // QoS 1 without an id
            [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],  // a length of five bytes
            [0x30, 0xFF, 0xFF, 0xFF, 0x7F],  // 256 MB
            [0x10, 0x0C, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0x03, 0x00, 0x00, 0x00, 0x00],  // reserved flag
            [0x10, 0x0C, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0x42, 0x00, 0x00, 0x00, 0x00],  // password, no user
            [0x10, 0x0C, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0x0A, 0x00, 0x00, 0x00, 0x00],  // will QoS, no will
            [0x10, 0x0C, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x05, 0x02, 0x00, 0x00, 0x00, 0x00],  // MQTT 5
            [0x10, 0x0D, 0x00, 0x04, 0x4D, 0x51, 0x54, 0x54, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00],  // too long
        ] as [[UInt8]]
    )
    func malformed(bytes: [UInt8]) {
        #expect(throws: MQTTViolation.self) { try decode(bytes) }
    }

    @Test("answers are the bytes of the standard")
    func answers() {
        #expect(MQTTEncoder.connack(6) == [0x20, 0x02, 0x00, 0x06])
        #expect(MQTTEncoder.puback(0x0102) == [0x40, 0x02, 0x01, 0x02])
        #expect(MQTTEncoder.suback(5, [0, 1, 0x80]) == [0x90, 0x05, 0x00, 0x05, 0x00, 0x01, 0x80])
        #expect(MQTTEncoder.unsuback(9) == [0xB0, 0x02, 0x00, 0x09])
        #expect(
            MQTTEncoder.publish(PublishPacket(topic: "a", payload: [0x68], qos: 1, id: 3))
                == [0x32, 0x06, 0x00, 0x01, 0x61, 0x00, 0x03, 0x68]
        )
        let long = MQTTEncoder.publish(PublishPacket(topic: "a", payload: [UInt8](repeating: 1, count: 200), qos: 0))
        #expect(Array(long.prefix(6)) == [0x30, 0xCB, 0x01, 0x00, 0x01, 0x61])
    }

    @Test(
        "filters match as the standard says",
        arguments: [
            ("a/b", "a/b", true), ("a/b", "a/b/c", false), ("a/+", "a/b", true), ("a/+", "a", false),
            ("a/+/c", "a/b/c", true), ("a/#", "a/b/c", true), ("#", "a", true), ("+/+", "a/b", true),
            ("+", "a/b", false), ("a/+", "a/", true),
        ]
    )
    func filters(filter: String, topic: String, matches: Bool) throws {
        let filter = try #require(TopicFilter(filter))

        #expect(
            filter.matches(topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)) == matches
        )
    }
}
