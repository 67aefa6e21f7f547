internal import Digests
internal import Glibc
internal import JSON

/// What only its holder knows: tokens, session ids, one-time codes. 144 random bits each, in letters that need no escaping
/// in addresses, cookies and headers.
public enum Secret {
    private static let byteCount = 18

    /// A new secret of 144 bits, as text for addresses and headers.
    public static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return String(Base64.encode(bytes).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// What is kept of one: enough to know it again, and nothing that lets anybody in.
    public static func fingerprint(_ secret: String) -> String { SHA256.text(of: secret) }

    /// Whether two texts are the same, in a time that does not tell where they differ.
    public static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
