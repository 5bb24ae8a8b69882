internal import AdafruitIO
internal import Diagnostics
internal import Sockets

/// One MQTT connection, from the first byte to its end.
///
/// Sendable: touched on the loop's thread only; the connection's reports and the agenda come there.
final class MQTTSession: @unchecked Sendable {
    let service: SimulatedService
    /// The peer's address, as messages show it.
    let address: String
    private let connection: SocketConnection
    private var decoder = MQTTDecoder()
    private(set) var client: SessionRegistry.Key?
    private(set) var subscriptions: [String: Subscription] = [:]
    private var will: ConnectPacket.Will?
    private var keepAlive = Duration.zero
    private var lastHeard: BootInstant
    private var alarms: [Int] = []
    private var nextID: UInt16 = 0
    private var unacknowledged: Set<UInt16> = []
    private var unreleased: Set<UInt16> = []
    private var publishes = 0
    private var isSilent = false
    private var isOver = false

    /// How long a connection may take to say who it is.
    static let connectTimeout = Duration.seconds(10)
    /// The most QoS 1 messages that a client may leave unacknowledged; more are not sent.
    static let mostUnacknowledged = 1000

    init(_ connection: SocketConnection, service: SimulatedService) {
        self.connection = connection
        self.service = service
        lastHeard = service.time.boot()
        address = if case .tcp(let host, _) = connection.peer { host } else { "local" }
    }

    func start() {
        service.sessions.add(self)
        alarm(after: Self.connectTimeout) { session in
            if session.client == nil { session.close("no CONNECT came") }
        }
        connection.start(
            SocketConnection.Handler(
                received: { [weak self] bytes in self?.received(bytes) },
                ended: { [weak self] end in self?.ended(end) }
            )
        )
    }

    /// Closes without a will: the simulator itself ends, or another client took the id.
    func closeQuietly() {
        will = nil
        connection.close()
    }

    /// Sends what is waiting, then closes.
    func end() {
        connection.end()
    }

    /// Sends a message; at QoS 1 with a packet id of its own.
    func send(_ topic: String, _ payload: [UInt8], qos: UInt8) {
        guard !isSilent, !isOver else { return }
        var message = PublishPacket(topic: topic, payload: payload, qos: qos)
        if qos > 0 {
            guard unacknowledged.count < Self.mostUnacknowledged else { return }
            repeat { nextID = nextID &+ 1 } while nextID == 0 || unacknowledged.contains(nextID)
            unacknowledged.insert(nextID)
            message.id = nextID
        }
        let bytes = MQTTEncoder.publish(message)
        connection.send(bytes)
        if service.faults.isEchoedTwice { connection.send(bytes) }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard !isSilent, !isOver else { return }
        lastHeard = service.time.boot()
        decoder.append(bytes)
        do throws(MQTTViolation) {
            guard client != nil || !decoder.startsWithoutConnect else { throw .malformed("no CONNECT came first") }
            while !isOver, !isSilent, let packet = try decoder.next() { try handle(packet) }
        } catch {
            switch error {
            case .wrongProtocol:
                connection.send(MQTTEncoder.connack(ConnackMeaning.wrongProtocol.rawValue))
                finish("a protocol that is not MQTT 3.1.1")
            case .tooLarge: close("a packet is too large")
            case .malformed(let what): close(what)
            }
        }
    }

    private func handle(_ packet: MQTTPacket) throws(MQTTViolation) {
        guard client != nil else {
            if case .connect(let connect) = packet { login(connect) }
            return
        }
        switch packet {
        case .connect: throw .malformed("a second CONNECT")
        case .publish(let message): try publish(message)
        case .puback(let id): unacknowledged.remove(id)
        case .pubrec, .pubcomp: break
        case .pubrel(let id):
            unreleased.remove(id)
            connection.send(MQTTEncoder.pubcomp(id))
        case .subscribe(let id, let filters): subscribe(id, filters)
        case .unsubscribe(let id, let filters):
            for filter in filters { subscriptions[filter] = nil }
            connection.send(MQTTEncoder.unsuback(id))
        case .pingreq: connection.send(MQTTEncoder.pingresp)
        case .disconnect:
            will = nil
            connection.end()
        }
    }

    // MARK: Log-in

    private func login(_ packet: ConnectPacket) {
        let code = service.login(packet)
        connection.send(MQTTEncoder.connack(code))
        guard code == 0, let user = packet.user else { return finish("CONNACK \(code)") }
        let id =
            packet.clientID.isEmpty ? "auto-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))" : packet.clientID
        let key = SessionRegistry.Key(account: user, client: id)
        let (older, oldWill) = service.sessions.login(self, key)
        client = key
        will = packet.will
        service.agenda.cancel(oldWill)
        older?.closeQuietly()
        var seconds = Int(packet.keepAlive)
        let cap = service.options.keepAliveCap
        if cap > 0 { seconds = seconds == 0 ? cap : min(seconds, cap) }
        keepAlive = .seconds(seconds)
        if seconds > 0 { watchKeepAlive() }
        if let cut = service.faults.cutAfter { alarm(after: cut) { $0.close("keep-alive-cut") } }
    }

    /// One and a half times the keep-alive without a packet ends the connection.
    private func watchKeepAlive() {
        let due = lastHeard.advanced(by: keepAlive * 3 / 2)
        alarm(at: due) { session in
            if session.lastHeard.advanced(by: session.keepAlive * 3 / 2) <= session.service.time.boot() {
                session.close("nothing came for one and a half times the keep-alive")
            } else {
                session.watchKeepAlive()
            }
        }
    }

    // MARK: Messages

    private func publish(_ message: PublishPacket) throws(MQTTViolation) {
        guard let client else { return }
        publishes += 1
        service.count(client.account) { $0.publishes += 1 }
        guard try acknowledge(message) else { return }
        if !service.faults.dropsAfterPuback() {
            service.publish(message, by: Publisher(account: client.account, client: client.client, address: address))
        }
        if let after = service.faults.closedAfter, publishes >= after { return finish("close:after=\(after)") }
        if let after = service.faults.silentAfter, publishes >= after {
            isSilent = true
            connection.setReading(false)
        }
    }

    /// Answers a message before anything is done with it; false when it goes no further.
    private func acknowledge(_ message: PublishPacket) throws(MQTTViolation) -> Bool {
        switch (message.qos, service.options.qos2) {
        case (0, _): return true
        case (1, _):
            guard !service.faults.dropsPuback() else { return true }
            let answer = MQTTEncoder.puback(message.id)
            if let delay = service.faults.pubackDelay {
                alarm(after: delay) { $0.sendIfOpen(answer) }
            } else {
                connection.send(answer)
            }
            return true
        case (_, .disconnect): throw .malformed("QoS 2 is not supported")
        case (_, .drop): return false
        case (_, .accept):
            connection.send(MQTTEncoder.pubrec(message.id))
            return unreleased.insert(message.id).inserted
        }
    }

    private func sendIfOpen(_ bytes: [UInt8]) {
        guard !isSilent, !isOver else { return }
        connection.send(bytes)
    }

    private func subscribe(_ id: UInt16, _ filters: [SubscribeFilter]) {
        guard let client else { return }
        var codes: [UInt8] = []
        var complaints: [() -> Void] = []
        let publisher = Publisher(account: client.account, client: client.client, address: address)
        for filter in filters {
            let (subscription, complaint) = service.subscribe(filter, by: publisher)
            codes.append(subscription?.qos ?? 0x80)
            if let subscription { subscriptions[filter.filter] = subscription }
            if let complaint { complaints.append(complaint) }
        }
        connection.send(MQTTEncoder.suback(id, codes))
        for complaint in complaints { complaint() }
        service.startClocks(for: subscriptions.values)
    }

    // MARK: The end

    private func alarm(after delay: Duration, _ action: @escaping @Sendable (MQTTSession) -> Void) {
        alarm(at: service.time.boot().advanced(by: delay), action)
    }

    private func alarm(at due: BootInstant, _ action: @escaping @Sendable (MQTTSession) -> Void) {
        let id = service.agenda.add(at: due) { [weak self] in
            guard let self, !self.isOver else { return }
            action(self)
        }
        alarms.append(id)
    }

    private func finish(_ why: String) {
        service.log.debug("MQTT \(client?.client ?? address): closed: \(why)")
        connection.end()
    }

    private func close(_ why: String) {
        service.log.debug("MQTT \(client?.client ?? address): closed: \(why)")
        connection.close()
    }

    private func ended(_ end: SocketEnd) {
        guard !isOver else { return }
        isOver = true
        for alarm in alarms { service.agenda.cancel(alarm) }
        service.sessions.remove(self, client)
        guard let will, let client else { return }
        let publisher = Publisher(account: client.account, client: client.client, address: address)
        let due = service.time.boot().advanced(by: .seconds(service.options.willDelay))
        let message = PublishPacket(topic: will.topic, payload: will.payload, qos: min(will.qos, 1))
        let number = service.agenda.add(at: due) { [service] in
            service.sessions.setWill(nil, of: client)
            service.publish(message, by: publisher)
        }
        service.sessions.setWill(number, of: client)
    }
}
