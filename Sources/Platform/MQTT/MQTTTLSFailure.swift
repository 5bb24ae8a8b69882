/// Why an encrypted connection was not made, or broke.
public struct MQTTTLSFailure: Sendable, Equatable {
    /// The kinds of failure.
    public enum Kind: Sendable, Equatable {
        /// The broker's certificate is no longer valid.
        case expired
        /// The broker's certificate is not valid yet: perhaps this machine's clock is wrong.
        case notYetValid
        /// The broker's certificate is for another host.
        case hostName
        /// The broker's certificate is signed by nobody we trust.
        case unknownAuthority
        /// The broker refused our certificate, or wants one.
        case clientCertificate
        /// Something else; the detail says what.
        case other
    }

    /// What kind of failure.
    public let kind: Kind
    /// OpenSSL's sentence about it.
    public let detail: String

    /// Makes a failure.
    public init(_ kind: Kind, detail: String = "") {
        self.kind = kind
        self.detail = detail
    }

    /// Whether the same attempt may succeed later: time heals validity, nothing else.
    public var isRetriable: Bool { kind == .expired || kind == .notYetValid }

    /// From X509_V_ERR codes (openssl/x509_vfy.h) and the lines that libmosquitto logged about the handshake.
    init(verifyResult: Int, sentence: String, log: [String]) {
        let refusedOurs = ["certificate required", "alert unknown ca", "alert bad certificate", "alert certificate"]
        if log.contains(where: { $0.contains("host name verification failed") }) {
            self.init(.hostName, detail: "host name verification failed")
            return
        }
        switch verifyResult {
        case 10: self.init(.expired, detail: sentence)
        case 9: self.init(.notYetValid, detail: sentence)
        case 62, 64: self.init(.hostName, detail: sentence)
        case 2, 18, 19, 20, 21, 24, 26, 27: self.init(.unknownAuthority, detail: sentence)
        case 0:
            let last = log.last.map { $0.split(separator: ":").last.map(String.init) ?? $0 } ?? ""
            let refused = log.contains { line in refusedOurs.contains { line.contains($0) } }
            self.init(refused ? .clientCertificate : .other, detail: last)
        default: self.init(.other, detail: sentence)
        }
    }
}

extension MQTTTLSFailure: CustomStringConvertible {
    /// The failure in words, with OpenSSL's sentence.
    public var description: String {
        let words =
            switch kind {
            case .expired: "the broker's certificate has expired"
            case .notYetValid: "the broker's certificate is not valid yet; check this machine's clock"
            case .hostName: "the broker's certificate is for another host"
            case .unknownAuthority: "the broker's certificate is signed by an authority that is not trusted"
            case .clientCertificate: "the broker did not accept this client's certificate"
            case .other: "the encrypted connection failed"
            }
        return detail.isEmpty ? words : "\(words) (OpenSSL: \(detail))"
    }
}
