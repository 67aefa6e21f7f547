public import JSON

/// What one message of a line is.
public enum IncomingMessage: Sendable {
    case call(Request)
    case answer(id: String?, HandlerOutcome)
    case unreadable(UnreadableMessage)
}

/// A message that cannot be a call, with as much of it as could be read, so that the error finds its caller.
public struct UnreadableMessage: Error, Sendable, Hashable {
    /// The command, where it could be read.
    public var command: String?
    /// The id, where it could be read.
    public var id: String?
    /// `badRequest` or `tooLarge`.
    public var code: CommandError.Code
    /// What is wrong with the line.
    public var message: String

    /// A line that is no message, with what of it could be read.
    public init(_ code: CommandError.Code, _ message: String, command: String? = nil, id: String? = nil) {
        self.code = code
        self.message = message
        self.command = command
        self.id = id
    }

    /// What the sender gets.
    public var error: CommandError { CommandError(code, message) }
}

extension JSONError {
    /// The code of an error reply.
    var code: CommandError.Code {
        if case .tooDeep = self { .tooLarge } else { .badRequest }
    }
}

/// Reads lines, one after another. For one thread: what one line needed it uses for the next, where it is given back.
public struct MessageReader {
    private let maximumDepth: Int
    private var spare: Request?

    /// Memory of longer lines is not kept.
    static let keptBytes = 64 << 10

    /// A reader of lines; `maximumDepth` is how deep arrays and objects may stand inside each other.
    public init(maximumDepth: Int = JSONParser.defaultDepth) { self.maximumDepth = maximumDepth }

    /// Reads a line, without its line break and not empty.
    public mutating func read(_ line: UnsafeBufferPointer<UInt8>) -> IncomingLine {
        switch line.first {
        case UInt8(ascii: "["): return batch(line)
        case UInt8(ascii: "{"):
            return .message(BridgeForm.read(line, into: takeSpare(line.count), maximumDepth: maximumDepth))
        default: return .message(URLForm.read(line, into: takeSpare(line.count), maximumDepth: maximumDepth))
        }
    }

    /// Reads a member of a batch.
    public mutating func read(_ member: Batch.Member) -> IncomingMessage {
        member.read(into: takeSpare(member.count), maximumDepth: maximumDepth - 1)
    }

    @inline(__always)
    private mutating func takeSpare(_ count: Int) -> Request { spare.take() ?? Request(capacity: count) }

    /// Takes a message back that has been worked off, for the next line, unless somebody else has it too, or it has the memory
    /// of a long line. It is moved from hand to hand: to count references to it would cost each call more than to route it.
    public mutating func giveBack(_ message: consuming IncomingMessage) {
        guard case .call(var request) = consume message else { return }
        if request.capacity <= Self.keptBytes, isKnownUniquelyReferenced(&request) { spare = request }
    }

    private func batch(_ line: UnsafeBufferPointer<UInt8>) -> IncomingLine {
        do throws(JSONError) {
            return .batch(try Batch(line, maximumDepth: maximumDepth))
        } catch {
            return .message(.unreadable(BridgeForm.unreadable(error)))
        }
    }
}

/// What a line is.
public enum IncomingLine: Sendable {
    case message(IncomingMessage)
    /// A JSON array of messages, which are read one by one: there may be a hundred thousand.
    case batch(Batch)
}

/// The messages of a line that is an array. The whole of it has been checked.
public struct Batch: Sendable {
    private let bytes: SharedBytes
    /// Where each member is, the first byte and the one behind it in one number.
    private let members: [UInt64]
    private var index = 0

    init(_ line: UnsafeBufferPointer<UInt8>, maximumDepth: Int) throws(JSONError) {
        var scanner = JSONScanner(line, maximumDepth: maximumDepth)
        var found: [UInt64] = []
        try scanner.skipArray(depth: 0) { found.append(UInt64($0.lowerBound) << 32 | UInt64($0.upperBound)) }
        try scanner.finish()
        members = found
        bytes = SharedBytes(copying: line)
    }

    /// One message, which is not read yet.
    public struct Member: Sendable {
        fileprivate let bytes: SharedBytes
        fileprivate let range: Range<Int>

        /// How many bytes it has; 0 where the batch has no member at all, which is a mistake.
        public var count: Int { range.count }

        fileprivate func read(into request: Request, maximumDepth: Int) -> IncomingMessage {
            guard count > 0 else { return .unreadable(UnreadableMessage(.badRequest, "the batch is empty")) }
            return withExtendedLifetime(bytes) {
                BridgeForm.read(bytes.slice(range), into: request, maximumDepth: maximumDepth)
            }
        }
    }

    /// The next member, nil behind the last one.
    public mutating func next() -> Member? {
        defer { index += 1 }
        guard !members.isEmpty else { return index == 0 ? Member(bytes: bytes, range: 0..<0) : nil }
        guard index < members.count else { return nil }
        let member = members[index]
        return Member(bytes: bytes, range: Int(member >> 32)..<Int(member & 0xFFFF_FFFF))
    }
}
