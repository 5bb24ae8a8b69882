internal import CMosquitto
internal import Diagnostics
internal import Glibc

/// libmosquitto as a whole.
enum MosquittoLibrary {
    // "This function must be called before any other mosquitto functions. This function is *not* thread safe"
    // (mosquitto.h on mosquitto_lib_init): Swift runs the initializer of a static once.
    private static let initialized: Int32 = mosquitto_lib_init()

    // The library's first TLS context sets up globals of OpenSSL without a lock; two connections that do it at once can
    // end with a certificate check that finds no client. So the first one goes alone.
    private static let hasMadeTLS = Guarded(false)

    /// Makes the library ready; quick after the first time.
    static func prepare() {
        precondition(initialized == Int32(MOSQ_ERR_SUCCESS.rawValue), "libmosquitto cannot be initialised")
    }

    /// Runs `open`, alone in the process until one run has said that TLS is set up.
    static func openingTLS(_ open: () -> (code: Int32, isSetUp: Bool)) -> Int32 {
        if hasMadeTLS.withLock({ $0 }) { return open().code }
        return hasMadeTLS.withLock { isSetUp in
            let result = open()
            if result.isSetUp { isSetUp = true }
            return result.code
        }
    }
}

/// A code of libmosquitto (`enum mosq_err_t`), in words.
enum MosquittoCode {
    static let success = Int32(MOSQ_ERR_SUCCESS.rawValue)
    static let outOfMemory = Int32(MOSQ_ERR_NOMEM.rawValue)
}

/// libmosquitto's sentence for one of its codes.
func mosquittoErrorText(_ code: Int32) -> String {
    String(cString: mosquitto_strerror(code))
}

/// The system's sentence for an error number.
func systemErrorText(_ number: Int32) -> String {
    String(cString: strerror(number))
}

extension MQTTReason {
    /// What a return code of the library means; `number` is `errno` right after the call.
    init(code: Int32, errno number: Int32, tls: MQTTTLSFailure?) {
        // When OpenSSL complained, that is it, whatever came after: the library may call it a lost connection, and its
        // attempt to say goodbye changes errno.
        if [MOSQ_ERR_CONN_LOST, MOSQ_ERR_ERRNO, MOSQ_ERR_TLS].contains(where: { Int32($0.rawValue) == code }), let tls {
            self = MQTTReason(tlsFailure: tls)
            return
        }
        switch UInt32(bitPattern: code) {
        case UInt32(bitPattern: MOSQ_ERR_CONN_LOST.rawValue), UInt32(bitPattern: MOSQ_ERR_NO_CONN.rawValue):
            self = .closedByPeer
        case UInt32(bitPattern: MOSQ_ERR_KEEPALIVE.rawValue): self = .keepAlive
        case UInt32(bitPattern: MOSQ_ERR_TLS.rawValue): self = MQTTReason(tlsFailure: tls)
        case UInt32(bitPattern: MOSQ_ERR_PROTOCOL.rawValue), UInt32(bitPattern: MOSQ_ERR_MALFORMED_PACKET.rawValue),
            UInt32(bitPattern: MOSQ_ERR_MALFORMED_UTF8.rawValue),
            UInt32(bitPattern: MOSQ_ERR_DUPLICATE_PROPERTY.rawValue):
            self = .protocolViolation
        case UInt32(bitPattern: MOSQ_ERR_PAYLOAD_SIZE.rawValue),
            UInt32(bitPattern: MOSQ_ERR_OVERSIZE_PACKET.rawValue):
            self = .payloadTooLarge
        case UInt32(bitPattern: MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue): self = .qosNotSupported
        case UInt32(bitPattern: MOSQ_ERR_EAI.rawValue): self = .nameNotFound(String(cString: gai_strerror(number)))
        case UInt32(bitPattern: MOSQ_ERR_ERRNO.rawValue): self = MQTTReason(errno: number)
        default: self = .library(code)
        }
    }

    /// What an error number of a socket means.
    init(errno number: Int32) {
        switch number {
        case ECONNREFUSED: self = .connectionRefused
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: self = .unreachable
        case ETIMEDOUT: self = .timedOut
        // EPROTO when OpenSSL had nothing to say: the peer was gone.
        case ECONNRESET, EPIPE, EPROTO, 0: self = .closedByPeer
        default: self = .system(number)
        }
    }

    private init(tlsFailure: MQTTTLSFailure?) {
        let failure = tlsFailure ?? MQTTTLSFailure(.other)
        // The peer hung up in the middle of it: that is no verdict on certificates.
        self = failure.detail.contains("unexpected eof") ? .closedByPeer : .tls(failure)
    }
}
