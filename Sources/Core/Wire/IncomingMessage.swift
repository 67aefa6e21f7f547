public import JSON

/// What one message is.
public enum IncomingMessage: Sendable {
    case call(Request)
    case answer(id: String?, HandlerOutcome)
    case unreadable(UnreadableMessage)
}

/// A message that cannot be handled as a call, with the parts that could be read, so that the error reaches its caller.
public struct UnreadableMessage: Error, Sendable, Hashable {
    /// The command, if it could be read.
    public var command: String?
    /// The id, if it could be read.
    public var id: String?
    /// `badRequest` or `tooLarge`.
    public var code: CommandError.Code
    /// What is wrong with the line.
    public var message: String

    /// A line that is not a message, with the parts of it that could be read.
    public init(_ code: CommandError.Code, _ message: String, command: String? = nil, id: String? = nil) {
        self.code = code
        self.message = message
        self.command = command
        self.id = id
    }

    /// The error that the sender gets.
    public var error: CommandError { CommandError(code, message) }
}

extension JSONError {
    /// The code of an error reply.
    package var code: CommandError.Code {
        if case .tooDeep = self { .tooLarge } else { .badRequest }
    }
}

/// Reads lines, one after another, on one thread. It reuses the memory of a message that is given back.
public struct MessageReader {
    private let maximumDepth: Int
    private var spare: Request?

    /// Requests with more memory are not reused.
    static let keptBytes = 64 << 10

    /// A reader of lines; `maximumDepth` limits how deep arrays and objects may be nested.
    public init(maximumDepth: Int = JSONParser.defaultDepth) { self.maximumDepth = maximumDepth }

    /// Reads a line that is not empty, given without its line break.
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

    /// Takes back a handled message and reuses its memory for the next line, unless somebody else holds it or it used
    /// the memory of a long line. The message is moved: counting references to it would cost each call more than
    /// routing it does.
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

/// The contents of a line.
public enum IncomingLine: Sendable {
    case message(IncomingMessage)
    /// A JSON array of messages. They are read one by one, because there may be a hundred thousand.
    case batch(Batch)
}

/// The messages of a line that is an array. The whole line has been checked; where its members are is found again with
/// each one, because two million places would take several times the line's memory.
public struct Batch: Sendable {
    private let bytes: SharedBytes
    private let maximumDepth: Int
    /// Where the next member is, or the end of the array.
    private var position: Int
    private var isAtStart = true
    /// The members whose ends take long to find, the next one last.
    private var long: [Range<Int>]

    private static let longMember = 16 << 10

    init(_ line: UnsafeBufferPointer<UInt8>, maximumDepth: Int) throws(JSONError) {
        var scanner = JSONScanner(line, maximumDepth: maximumDepth)
        scanner.skipWhiteSpace()
        position = scanner.position + 1
        var long: [Range<Int>] = []
        try scanner.skipArray(depth: 0) { if $0.count > Self.longMember { long.append($0) } }
        try scanner.finish()
        self.long = long.reversed()
        self.maximumDepth = maximumDepth
        bytes = SharedBytes(copying: line)
    }

    /// How many bytes it keeps, the members already read included.
    public var memory: Int { bytes.count }

    /// One message that has not been read yet.
    public struct Member: Sendable {
        fileprivate let bytes: SharedBytes
        fileprivate let range: Range<Int>

        /// Its size in bytes; 0 if the batch is empty, which is an error.
        public var count: Int { range.count }

        fileprivate func read(into request: Request, maximumDepth: Int) -> IncomingMessage {
            guard count > 0 else { return .unreadable(UnreadableMessage(.badRequest, "the batch is empty")) }
            return withExtendedLifetime(bytes) {
                BridgeForm.read(bytes.slice(range), into: request, maximumDepth: maximumDepth)
            }
        }
    }

    /// The next member; nil after the last one.
    public mutating func next() -> Member? {
        let rest = bytes.slice(position..<bytes.count)
        var scanner = JSONScanner(rest, maximumDepth: maximumDepth)
        scanner.skipWhiteSpace()
        guard scanner.next != UInt8(ascii: "]") else {
            defer { isAtStart = false }
            return isAtStart ? Member(bytes: bytes, range: 0..<0) : nil
        }
        isAtStart = false
        let start = position + scanner.position
        if let last = long.last, last.lowerBound == start {
            long.removeLast()
            position = last.upperBound
        } else {
            // It has been checked, so it does not fail.
            do throws(JSONError) { try scanner.skipValue(depth: 1) } catch { return nil }
            position += scanner.position
        }
        let end = position
        skipComma()
        return Member(bytes: bytes, range: start..<end)
    }

    private mutating func skipComma() {
        var scanner = JSONScanner(bytes.slice(position..<bytes.count), maximumDepth: maximumDepth)
        scanner.skipWhiteSpace()
        _ = scanner.skip(UInt8(ascii: ","))
        position += scanner.position
    }
}
