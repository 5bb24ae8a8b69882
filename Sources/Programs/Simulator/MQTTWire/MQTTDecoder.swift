/// Cuts what a client sends into packets: incremental, strict, bounded.
struct MQTTDecoder {
    private var buffer: [UInt8] = []
    private var start = 0
    private let limit: Int

    /// Takes packets of at most `limit` bytes.
    init(limit: Int = 256 * 1024) {
        self.limit = limit
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 65_536)
            start = 0
        } else if start > 65_536 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Whether what is there begins with something else than a CONNECT.
    var startsWithoutConnect: Bool { start < buffer.count && buffer[start] != 0x10 }

    /// The next whole packet; nil when more bytes are needed.
    mutating func next() throws(MQTTViolation) -> MQTTPacket? {
        guard start < buffer.count else { return nil }
        // Wrong at its first byte: no need to wait for the rest of what may never come.
        try Self.checkHeader(buffer[start])
        var length = 0
        var place = start + 1
        for shift in stride(from: 0, through: 28, by: 7) {
            guard shift < 28 else { throw .malformed("a length of more than four bytes") }
            guard place < buffer.count else { return nil }
            let byte = buffer[place]
            place += 1
            length |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { break }
        }
        guard length <= limit else { throw .tooLarge }
        guard buffer.count - place >= length else { return nil }
        let header = buffer[start]
        start = place + length
        return try Self.packet(header, PacketReader(buffer[place..<start]))
    }

    private static func checkHeader(_ header: UInt8) throws(MQTTViolation) {
        let kind = header >> 4
        let flags = header & 0x0F
        switch kind {
        case 3: return
        case 6, 8, 10: guard flags == 2 else { throw .malformed("flags \(flags) on packet type \(kind)") }
        case 1, 4, 5, 7, 12, 14: guard flags == 0 else { throw .malformed("flags \(flags) on packet type \(kind)") }
        default: throw .malformed("packet type \(kind) from a client")
        }
    }

    private static func packet(_ header: UInt8, _ body: PacketReader) throws(MQTTViolation) -> MQTTPacket {
        var body = body
        let flags = header & 0x0F
        let kind = header >> 4
        let packet: MQTTPacket
        switch kind {
        case 1: packet = .connect(try connect(&body))
        case 3: packet = .publish(try publish(flags, &body))
        case 4: packet = .puback(try body.id())
        case 5: packet = .pubrec(try body.id())
        case 6: packet = .pubrel(try body.id())
        case 7: packet = .pubcomp(try body.id())
        case 8:
            let id = try body.id()
            var filters: [SubscribeFilter] = []
            while !body.isEmpty {
                let filter = try self.filter(&body)
                let qos = try body.byte()
                guard qos <= 2 else { throw .malformed("QoS \(qos)") }
                filters.append(SubscribeFilter(filter: filter, qos: qos))
            }
            guard !filters.isEmpty else { throw .malformed("SUBSCRIBE without a filter") }
            packet = .subscribe(id: id, filters: filters)
        case 10:
            let id = try body.id()
            var filters: [String] = []
            while !body.isEmpty { filters.append(try filter(&body)) }
            guard !filters.isEmpty else { throw .malformed("UNSUBSCRIBE without a filter") }
            packet = .unsubscribe(id: id, filters: filters)
        case 12: packet = .pingreq
        case 14: packet = .disconnect
        default: throw .malformed("packet type \(kind) from a client")
        }
        try body.end()
        return packet
    }

    private static func connect(_ body: inout PacketReader) throws(MQTTViolation) -> ConnectPacket {
        let name = try body.text()
        let level = try body.byte()
        guard (name == "MQTT" && level == 4) || (name == "MQIsdp" && level == 3) else { throw .wrongProtocol }
        let flags = try body.byte()
        guard flags & 1 == 0 else { throw .malformed("the reserved flag of CONNECT") }
        let willQoS = flags >> 3 & 3
        let hasWill = flags & 0x04 != 0
        guard willQoS <= 2, hasWill || flags & 0x38 == 0 else { throw .malformed("will flags") }
        guard flags & 0x80 != 0 || flags & 0x40 == 0 else { throw .malformed("a password without a user name") }
        var packet = ConnectPacket(clientID: "", isClean: flags & 0x02 != 0, keepAlive: try body.number())
        packet.clientID = try body.text()
        if hasWill {
            let topic = try body.text()
            guard isTopic(topic) else { throw .malformed("the will's topic") }
            packet.will = ConnectPacket.Will(topic: topic, payload: try body.bytes(), qos: willQoS)
        }
        if flags & 0x80 != 0 { packet.user = try body.text() }
        if flags & 0x40 != 0 { packet.password = try body.bytes() }
        return packet
    }

    private static func publish(_ flags: UInt8, _ body: inout PacketReader) throws(MQTTViolation) -> PublishPacket {
        let qos = flags >> 1 & 3
        guard qos <= 2 else { throw .malformed("QoS 3") }
        guard qos > 0 || flags & 8 == 0 else { throw .malformed("DUP on QoS 0") }
        let topic = try body.text()
        guard isTopic(topic) else { throw .malformed("a topic with a wildcard, or none") }
        let id = qos > 0 ? try body.id() : 0
        return PublishPacket(
            topic: topic,
            payload: body.remaining(),
            qos: qos,
            isRetained: flags & 1 != 0,
            isDuplicate: flags & 8 != 0,
            id: id
        )
    }

    private static func filter(_ body: inout PacketReader) throws(MQTTViolation) -> String {
        let filter = try body.text()
        guard TopicFilter(filter) != nil else { throw .malformed("the topic filter") }
        return filter
    }

    private static func isTopic(_ topic: String) -> Bool {
        !topic.isEmpty && !topic.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
    }
}
