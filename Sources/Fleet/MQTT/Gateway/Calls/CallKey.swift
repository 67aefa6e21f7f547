internal import Digests

/// Identifies deliveries of the same call: a hash, 16 bytes long, of their caller and their correlation data.
package struct CallKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// - Parameter data: the correlation data.
    package init(caller: String, data: [UInt8]) {
        // No caller's name contains a zero byte.
        let hash = SHA256.hash(Array(caller.utf8) + [0] + data)
        func word(_ start: Int) -> UInt64 { hash[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(0), low: word(8))
    }

    /// 32 hexadecimal digits.
    package var text: String { [high, low].map { Self.padded(String($0, radix: 16)) }.joined() }

    private static func padded(_ digits: String) -> String { String(repeating: "0", count: 16 - digits.count) + digits }

    /// Parses ``text``.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
