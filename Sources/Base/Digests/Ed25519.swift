internal import CSodium
internal import JSON

/// A public key of RFC 8032, to verify signatures.
package struct Ed25519Key: Sendable, Equatable {
    private let bytes: [UInt8]

    /// - Parameter text: the 32 bytes in Base64; nil if it is anything else.
    package init?(_ text: String) {
        guard let bytes = Base64.decode(text), bytes.count == crypto_sign_PUBLICKEYBYTES else { return nil }
        self.bytes = bytes
    }

    /// Whether the holder of the key has signed exactly these bytes.
    /// - Parameter signature: its 64 bytes as they are, or in Base64.
    package func accepts(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        let size = Int(crypto_sign_BYTES)
        let text = String(decoding: signature, as: UTF8.self).filter { !$0.isWhitespace }
        let raw = signature.count == size ? signature : Base64.decode(text) ?? []
        guard raw.count == size else { return false }
        Sodium.begin()
        return crypto_sign_verify_detached(raw, message, UInt64(message.count), bytes) == 0
    }
}
