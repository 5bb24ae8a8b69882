// Thread rule of libsodium: after `sodium_init`, which may be called often and from any thread, all functions used here may
// be called from any thread.
internal import CSodium
public import Diagnostics

/// Opens what was closed with a shared secret by libsodium's `crypto_secretbox` (XSalsa20 and Poly1305).
public struct SecretBox: Sendable {
    /// The most bytes that a secret may have.
    public static let longestSecret = 32

    private static let isReady = sodium_init() >= 0
    private let secret: Secret

    /// Takes a secret of 1 to 32 bytes, which is filled up with zeros; nil when it has another length.
    public init?(_ secret: Secret) {
        let count = secret.reveal().utf8.count
        guard (1...Self.longestSecret).contains(count), Self.isReady else { return nil }
        self.secret = secret
    }

    /// Opens a box of a nonce of 24 bytes, a seal of 16, and the closed text; nil when this secret did not close it.
    public func open(_ box: [UInt8]) -> [UInt8]? {
        let (nonceBytes, sealBytes) = (Int(crypto_secretbox_NONCEBYTES), Int(crypto_secretbox_MACBYTES))
        guard box.count >= nonceBytes + sealBytes else { return nil }
        var key = Array(secret.reveal().utf8)
        key += Array(repeating: 0, count: Self.longestSecret - key.count)
        defer { sodium_memzero(&key, key.count) }
        let (nonce, closed) = (Array(box[..<nonceBytes]), Array(box[nonceBytes...]))
        var opened = [UInt8](repeating: 0, count: closed.count - sealBytes)
        guard crypto_secretbox_open_easy(&opened, closed, UInt64(closed.count), nonce, key) == 0 else { return nil }
        return opened
    }
}
