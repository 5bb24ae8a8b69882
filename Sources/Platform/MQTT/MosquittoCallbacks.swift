internal import CMosquitto
internal import Glibc

/// What the library reported during a call, for the thread that made the call.
///
/// Used by one thread only: the library calls back inside calls of the thread that owns the handle.
final class CallbackEvents {
    enum Event {
        case connected(code: Int32, receiveMaximum: Int?)
        case disconnected(code: Int32)
        case acknowledged(id: Int32, code: Int32)
        case message(MQTTMessage)
        case subscribed(id: Int32, granted: Int32)
        case unsubscribed(id: Int32)
    }

    private var events: [Event] = []
    private(set) var tlsFailure: MQTTTLSFailure?
    /// Whether the library has begun to send CONNECT.
    fileprivate(set) var hasGreeted = false
    private var tlsLog: [String] = []
    // The callback for a message does not say whether it is a duplicate; the line logged right before it does.
    fileprivate var nextIsDuplicate = false
    private var duplicateLine: ContiguousArray<CChar> = []

    init(clientID: String?) {
        know(clientID: clientID ?? "(null)")
    }

    /// The client's id, as the library writes it into its log.
    fileprivate func know(clientID: String) {
        duplicateLine = ContiguousArray("Client \(clientID) received PUBLISH (d1, q1,".utf8CString.dropLast())
    }

    /// Whether a logged line says that a message of QoS 1 with the DUP flag came: it is shown nowhere else.
    fileprivate func isDuplicate(_ line: UnsafePointer<CChar>) -> Bool {
        duplicateLine.withUnsafeBufferPointer { expected in
            expected.baseAddress.map { strncmp(line, $0, expected.count) == 0 } ?? false
        }
    }

    func note(_ event: Event) { events.append(event) }

    /// The events since the last time, oldest first.
    func take() -> [Event] {
        guard !events.isEmpty else { return [] }
        let taken = events
        events.removeAll(keepingCapacity: true)
        return taken
    }

    fileprivate func noteTLS(_ line: String, verifyResult: Int) {
        if tlsLog.count < 8 { tlsLog.append(line) }
        let sentence = verifyResult == 0 ? "" : String(cString: X509_verify_cert_error_string(verifyResult))
        tlsFailure = MQTTTLSFailure(verifyResult: verifyResult, sentence: sentence, log: tlsLog)
    }
}

// Free functions outside any actor: a C thread may run them.

private func events(_ context: UnsafeMutableRawPointer?) -> CallbackEvents {
    guard let context else { preconditionFailure("libmosquitto called back without the context it was given") }
    return Unmanaged<CallbackEvents>.fromOpaque(context).takeUnretainedValue()
}

func noteLog(_ client: OpaquePointer?, _ context: UnsafeMutableRawPointer?, level: Int32, text: UnsafePointer<CChar>?) {
    guard let text else { return }
    if level == Int32(MOSQ_LOG_ERR) {
        events(context).noteTLS(String(cString: text), verifyResult: feedbridge_verify_result(client))
    } else if level == Int32(MOSQ_LOG_DEBUG) {
        let events = events(context)
        if events.isDuplicate(text) { events.nextIsDuplicate = true }
        // The library says so right before it hands CONNECT to its socket, or keeps it for the end of the handshake.
        if !events.hasGreeted, strstr(text, " sending CONNECT") != nil { events.hasGreeted = true }
    }
}

func noteConnect(
    _ client: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    code: Int32,
    flags: Int32,
    properties: OpaquePointer?
) {
    var assignedID: UnsafeMutablePointer<CChar>?
    let identifier = Int32(MQTT_PROP_ASSIGNED_CLIENT_IDENTIFIER.rawValue)
    if mosquitto_property_read_string(properties, identifier, &assignedID, false) != nil, let assignedID {
        events(context).know(clientID: String(cString: assignedID))
        free(assignedID)
    }
    var receiveMaximum: UInt16 = 0
    let found = mosquitto_property_read_int16(
        properties,
        Int32(MQTT_PROP_RECEIVE_MAXIMUM.rawValue),
        &receiveMaximum,
        false
    )
    events(context).note(.connected(code: code, receiveMaximum: found == nil ? nil : Int(receiveMaximum)))
}

func noteDisconnect(
    _ client: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    code: Int32,
    properties: OpaquePointer?
) {
    events(context).note(.disconnected(code: code))
}

func notePublish(
    _ client: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    id: Int32,
    code: Int32,
    properties: OpaquePointer?
) {
    events(context).note(.acknowledged(id: id, code: code))
}

func noteMessage(
    _ client: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    message: UnsafePointer<mosquitto_message>?,
    properties: OpaquePointer?
) {
    guard let message = message?.pointee, let topic = message.topic else { return }
    let events = events(context)
    // Topic and payload are valid in here only; an empty payload comes as a null pointer.
    let payload = UnsafeRawBufferPointer(
        start: message.payload,
        count: message.payload == nil ? 0 : Int(message.payloadlen)
    )
    events.note(
        .message(
            MQTTMessage(
                topic: String(cString: topic),
                payload: Array(payload),
                qos: MQTTQoS(rawValue: UInt8(truncatingIfNeeded: message.qos)) ?? .atMostOnce,
                retain: message.retain,
                duplicate: events.nextIsDuplicate
            )
        )
    )
    events.nextIsDuplicate = false
}

func noteSubscribe(
    _ client: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    id: Int32,
    count: Int32,
    granted: UnsafePointer<Int32>?,
    properties: OpaquePointer?
) {
    events(context).note(.subscribed(id: id, granted: count > 0 ? granted?.pointee ?? 0x80 : 0x80))
}

func noteUnsubscribe(
    _ client: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?,
    id: Int32,
    properties: OpaquePointer?
) {
    events(context).note(.unsubscribed(id: id))
}
