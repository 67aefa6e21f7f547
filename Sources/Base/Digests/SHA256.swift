internal import CSodium

/// The hash of FIPS 180-4.
package enum SHA256 {
    /// The hash of a text, in hexadecimal digits.
    package static func text(of text: String) -> String { self.text(of: Array(text.utf8)) }

    /// The hash of bytes, in hexadecimal digits.
    package static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// 32 bytes.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        Sodium.begin()
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }
}

/// The library must be initialized once before it is used.
enum Sodium {
    private static let isReady = sodium_init() >= 0

    static func begin() { _ = isReady }
}
