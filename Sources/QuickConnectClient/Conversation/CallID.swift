/// One call of a conversation. On the wire it is a letter and a number: `c12`.
public struct CallID: Hashable, Sendable {
    /// Where a call stands among the others. The letter of its id.
    public enum Precedence: UInt8, Sendable {
        /// In the order made. It is one of those of which only so many may be under way.
        case inOrder = 0x63  // c
        /// Behind those that wait, but it does not count: for a caller who lets nothing else go on meanwhile.
        case uncounted = 0x73  // s
        /// Past those that wait, and it does not count: what registers and takes back.
        case ahead = 0x72  // r
    }

    let precedence: Precedence
    let number: Int

    /// As lines carry it.
    public var text: String { "\(Character(Unicode.Scalar(precedence.rawValue)))\(number)" }

    init(_ precedence: Precedence, _ number: Int) {
        self.precedence = precedence
        self.number = number
    }

    /// Nil where the bytes are none: a letter of a precedence, and up to 18 digits.
    init?(_ bytes: some Collection<UInt8>) {
        guard let letter = bytes.first, let precedence = Precedence(rawValue: letter), (2...19).contains(bytes.count)
        else { return nil }
        var number = 0
        for byte in bytes.dropFirst() {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = number * 10 + Int(digit)
        }
        self.init(precedence, number)
    }

    private static let replyStart = Array("{\"responseId\":\"".utf8)
    private static let callEnd = Array("\"callbackId\":\"".utf8)

    /// The id of a reply whose first member it is.
    init?(atStartOf line: UnsafeBufferPointer<UInt8>) {
        let start = Self.replyStart.count
        guard line.count > start, line.prefix(start).elementsEqual(Self.replyStart),
            let end = line[start...].prefix(20).firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        self.init(line[start..<end])
    }

    /// The id of a call whose last member it is.
    init?(atEndOf line: UnsafeBufferPointer<UInt8>) {
        guard line.count > 2, line[line.count - 1] == UInt8(ascii: "}"), line[line.count - 2] == UInt8(ascii: "\"")
        else { return nil }
        let end = line.count - 2
        guard let quote = line[..<end].suffix(20).lastIndex(of: UInt8(ascii: "\"")),
            line[...quote].suffix(Self.callEnd.count).elementsEqual(Self.callEnd)
        else { return nil }
        self.init(line[(quote + 1)..<end])
    }
}
