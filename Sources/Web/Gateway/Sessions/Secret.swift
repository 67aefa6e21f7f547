internal import Digests
internal import JSON

/// A secret: a token, session id or one-time code. It has 144 random bits, in characters that need no escaping in
/// addresses, cookies and headers.
package enum Secret {
    private static let byteCount = 18
    /// More than any secret has, in text: what is longer is not even hashed.
    static let maxBytes = 128

    /// A new secret of 144 bits, as text for addresses and headers.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return String(Base64.encode(bytes).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// What is stored of a secret: enough to recognize it, but not enough to log in.
    package static func fingerprint(_ secret: String) -> String { SHA256.text(of: secret) }

    /// Whether two texts are the same, compared in constant time.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
