// The thread rule: one thread makes the handle, uses it and destroys it; callbacks run on it, inside our own calls. The
// library keeps a mutex that is not recursive while it calls back, so callbacks only note what happened.

internal import CMosquitto
internal import Diagnostics
internal import Glibc

/// The one owner of a `struct mosquitto`.
struct MosquittoHandle: ~Copyable {
    private let pointer: OpaquePointer
    private let events: Unmanaged<CallbackEvents>

    /// Makes a client; `events` is told of everything that happens to it.
    init(_ configuration: MQTTConfiguration, events: CallbackEvents) throws(MQTTError) {
        MosquittoLibrary.prepare()
        let retained = Unmanaged.passRetained(events)
        guard
            let pointer = mosquitto_new(configuration.clientID, configuration.cleanSession, retained.toOpaque())
        else {
            retained.release()
            throw MQTTError(.library(MosquittoCode.outOfMemory), while: "making a client")
        }
        self.pointer = pointer
        self.events = retained
        setCallbacks()
    }

    deinit {
        mosquitto_destroy(pointer)
        events.release()
    }

    /// Makes it ready to connect.
    func configure(_ configuration: MQTTConfiguration) throws(MQTTError) {
        func check(_ code: Int32) throws(MQTTError) {
            guard code == MosquittoCode.success else {
                throw MQTTError(MQTTReason(code: code, errno: errno, tls: nil), while: "preparing the client")
            }
        }
        let version = configuration.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try check(mosquitto_int_option(pointer, MOSQ_OPT_PROTOCOL_VERSION, version))
        try check(mosquitto_int_option(pointer, MOSQ_OPT_TCP_NODELAY, 1))
        try check(mosquitto_int_option(pointer, MOSQ_OPT_SEND_MAXIMUM, Int32(configuration.inFlightWindow)))
        try check(
            mosquitto_username_pw_set(pointer, configuration.username, configuration.password?.reveal())
        )
        if let will = configuration.will {
            let qos = Int32(will.qos.rawValue)
            let count = Int32(will.payload.count)
            try check(mosquitto_will_set(pointer, will.topic, count, will.payload, qos, will.retain))
        }
        guard let tls = configuration.tls else { return }
        if tls.caFile == nil {
            try check(mosquitto_int_option(pointer, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
        }
        if tls.caFile != nil || tls.certificateFile != nil {
            // mosquitto_tls_set wants an authority; with a client certificate alone that is the system's folder.
            let folder = tls.caFile == nil ? "/etc/ssl/certs" : nil
            try check(mosquitto_tls_set(pointer, tls.caFile, folder, tls.certificateFile, tls.keyFile, nil))
        }
        if tls.dangerouslySkipHostNameCheck {
            try check(mosquitto_tls_insecure_set(pointer, true))
        }
    }

    // All of them once, before connecting: setting one inside a callback would deadlock.
    private func setCallbacks() {
        mosquitto_log_callback_set(pointer, noteLog)
        mosquitto_connect_v5_callback_set(pointer, noteConnect)
        mosquitto_disconnect_v5_callback_set(pointer, noteDisconnect)
        mosquitto_publish_v5_callback_set(pointer, notePublish)
        mosquitto_message_v5_callback_set(pointer, noteMessage)
        mosquitto_subscribe_v5_callback_set(pointer, noteSubscribe)
        mosquitto_unsubscribe_v5_callback_set(pointer, noteUnsubscribe)
    }

    /// The socket; -1 when there is none.
    var socket: Int32 { mosquitto_socket(pointer) }

    /// Whether the TLS handshake is over.
    var hasShakenHands: Bool { feedbridge_has_shaken_hands(pointer) != 0 }

    /// Whether bytes wait for the socket to take them.
    var wantsToWrite: Bool { mosquitto_want_write(pointer) }

    /// Resolves the name, which may block, and starts to connect, which does not.
    func connect(to host: String, port: Int, keepAlive: Duration, from local: String?) -> Int32 {
        errno = 0
        let seconds = Int32(keepAlive.components.seconds)
        return mosquitto_connect_bind_async(pointer, host, Int32(port), seconds, local)
    }

    /// Reads what has come, and goes on with a TLS handshake.
    func read() -> Int32 {
        errno = 0
        return mosquitto_loop_read(pointer, 1)
    }

    /// Writes what waits.
    func write() -> Int32 {
        errno = 0
        return mosquitto_loop_write(pointer, 1)
    }

    /// Looks after pings.
    func tick() -> Int32 { mosquitto_loop_misc(pointer) }

    /// Hands a message over; `id` is set whenever the library has taken it.
    func publish(_ message: MQTTPublication, id: inout Int32) -> Int32 {
        errno = 0
        let count = Int32(clamping: message.payload.count)
        let qos = Int32(message.qos.rawValue)
        return mosquitto_publish(pointer, &id, message.topic, count, message.payload, qos, message.retain)
    }

    /// Sends SUBSCRIBE.
    func subscribe(to filter: String, qos: MQTTQoS, id: inout Int32) -> Int32 {
        errno = 0
        return mosquitto_subscribe(pointer, &id, filter, Int32(qos.rawValue))
    }

    /// Sends UNSUBSCRIBE.
    func unsubscribe(from filter: String, id: inout Int32) -> Int32 {
        errno = 0
        return mosquitto_unsubscribe(pointer, &id, filter)
    }

    /// Sends DISCONNECT and closes the socket once it is written.
    func disconnect() -> Int32 { mosquitto_disconnect(pointer) }
}
