internal import Glibc

/// A call of a conversation. On the wire its id is a letter and a number: `c12`.
public struct CallID: Hashable, Sendable {
    /// The order in which calls are sent. Also the letter of the id.
    public enum Precedence: UInt8, Sendable {
        /// In the order made. Counts towards the limit of running calls.
        case inOrder = 0x63  // c
        /// Sent after the waiting calls, but does not count towards the limit: for a caller that does nothing else
        /// meanwhile.
        case uncounted = 0x73  // s
        /// Sent before the waiting calls, and does not count towards the limit: for registering and removing handlers
        /// and subscriptions.
        case ahead = 0x72  // r
    }

    let precedence: Precedence
    let number: Int

    /// The id as lines contain it.
    public var text: String { "\(Character(Unicode.Scalar(precedence.rawValue)))\(number)" }

    init(_ precedence: Precedence, _ number: Int) {
        self.precedence = precedence
        self.number = number
    }

    /// Nil if the text is not an id: a letter of a precedence, and up to 18 digits.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let id = bytes.withUnsafeBufferPointer({ CallID($0[...]) }) else { return nil }
        self = id
    }

    private init?(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        guard 2...Self.longest ~= bytes.count, let precedence = Precedence(rawValue: bytes[bytes.startIndex])
        else { return nil }
        var number = 0
        for index in (bytes.startIndex + 1)..<bytes.endIndex {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = number * 10 + Int(digit)
        }
        self.init(precedence, number)
    }

    private static var replyStart: StaticString { "{\"responseId\":\"" }
    private static var callEnd: StaticString { "\"callbackId\":\"" }
    private static var longest: Int { 19 }

    /// The id of a reply, if it is the line's first member.
    init?(atStartOf line: UnsafeBufferPointer<UInt8>) {
        let start = Self.replyStart.utf8CodeUnitCount
        guard line.has(Self.replyStart, at: 0) else { return nil }
        var end = start
        while end < line.count, end - start <= Self.longest, line[end] != UInt8(ascii: "\"") { end += 1 }
        guard end < line.count, line[end] == UInt8(ascii: "\"") else { return nil }
        self.init(line[start..<end])
    }

    /// The id of a call, if it is the line's last member.
    init?(atEndOf line: UnsafeBufferPointer<UInt8>) {
        let end = line.count - 2
        guard line.has("\"}", at: end) else { return nil }
        var start = end
        while start > 0, end - start <= Self.longest, line[start - 1] != UInt8(ascii: "\"") { start -= 1 }
        guard line.has(Self.callEnd, at: start - Self.callEnd.utf8CodeUnitCount) else { return nil }
        self.init(line[start..<end])
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether an ASCII text is at that position.
    @inline(__always)
    func has(_ text: StaticString, at start: Int) -> Bool {
        guard let baseAddress, start >= 0, count - start >= text.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress + start, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
