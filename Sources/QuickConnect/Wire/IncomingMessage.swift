public import JSON

/// What one message of a line is.
public enum IncomingMessage: Sendable {
    case call(Request)
    case answer(id: String?, HandlerOutcome)
    case unreadable(UnreadableMessage)
}

/// A message that cannot be a call, with as much of it as could be read, so that the error finds its caller.
public struct UnreadableMessage: Error, Sendable, Hashable {
    public var command: String?
    public var id: String?
    public var code: CommandError.Code
    public var message: String

    public init(_ code: CommandError.Code, _ message: String, command: String? = nil, id: String? = nil) {
        self.code = code
        self.message = message
        self.command = command
        self.id = id
    }

    public var error: CommandError { CommandError(code, message) }
}

extension JSONError {
    /// The code of an error reply.
    var code: CommandError.Code {
        if case .tooDeep = self { .tooLarge } else { .badRequest }
    }
}

/// Reads lines, one after another. For one thread: it keeps the memory that one line needed for the next.
public struct LineReader {
    private let maximumDepth: Int
    var bytes = SharedBytes(capacity: 4096)

    /// Memory of longer lines is not kept.
    static let keptBytes = 64 << 10

    public init(maximumDepth: Int = JSONParser.defaultDepth) { self.maximumDepth = maximumDepth }

    /// Reads a line, without its line break and not empty.
    public mutating func read(_ line: UnsafeBufferPointer<UInt8>) -> IncomingLine {
        defer { if line.count > Self.keptBytes { bytes = SharedBytes(capacity: 4096) } }
        switch line.first {
        case UInt8(ascii: "["): return batch(line)
        case UInt8(ascii: "{"): return .message(BridgeForm.read(line, into: &bytes, maximumDepth: maximumDepth))
        default: return .message(URLForm.read(line, into: &bytes, maximumDepth: maximumDepth))
        }
    }

    /// Reads the next message of a batch, nil behind the last one.
    public mutating func next(of batch: inout Batch) -> IncomingMessage? {
        batch.next(into: &bytes, maximumDepth: maximumDepth)
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
    private var position: Int
    private var isFirst = true

    init(_ line: UnsafeBufferPointer<UInt8>, maximumDepth: Int) throws(JSONError) {
        var scanner = JSONScanner(line, maximumDepth: maximumDepth)
        try scanner.skipValue()
        try scanner.finish()
        bytes = SharedBytes(copying: line)
        position = 1
    }

    mutating func next(into storage: inout SharedBytes, maximumDepth: Int) -> IncomingMessage? {
        let bytes = bytes
        defer { withExtendedLifetime(bytes) {} }
        let all = bytes.slice(0..<bytes.count)
        let rest = UnsafeBufferPointer(rebasing: all[position...])
        // The message stands in an array, so it may be less deep.
        var scanner = JSONScanner(rest, maximumDepth: maximumDepth - 1)
        scanner.skipWhiteSpace()
        if scanner.next == UInt8(ascii: "]") { return emptyBatch() }
        let start = scanner.position
        // The bytes are checked: this cannot fail.
        guard (try? scanner.skipValue()) != nil else { return nil }
        let message = UnsafeBufferPointer(rebasing: rest[start..<scanner.position])
        scanner.skipWhiteSpace()
        _ = scanner.skip(UInt8(ascii: ","))
        position += scanner.position
        isFirst = false
        return BridgeForm.read(message, into: &storage, maximumDepth: maximumDepth - 1)
    }

    private mutating func emptyBatch() -> IncomingMessage? {
        defer { isFirst = false }
        return isFirst ? .unreadable(UnreadableMessage(.badRequest, "the batch is empty")) : nil
    }
}
