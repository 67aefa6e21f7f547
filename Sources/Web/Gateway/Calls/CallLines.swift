internal import Glibc
internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect
internal import QuickConnectClient

/// The contents of `POST /call`: one call in the address, or one per line in the body, as lines for the daemon. A value
/// without input or output, so that another thread can read a large body.
struct CallLines: Sendable {
    enum Line: Sendable {
        /// A line of the bridge form up to its id.
        case call(command: String, [UInt8])
        case unreadable(UnreadableMessage)
    }

    /// The body has more calls than one request may have.
    struct TooMany: Error {}

    private(set) var lines: [Line] = []
    /// What is not read yet of the body.
    private var rest = ByteBuffer()

    /// How many calls a body may have.
    static let max = 256
    /// Bodies up to this size are read at once.
    static let smallBody = 4 << 10
    /// About how much of a body is read at a time: others' bodies have their turns between the pieces.
    private static let piece = 64 << 10
    /// The parameters become one array.
    private static let depth = JSONParser.defaultDepth - 1

    /// The call of an address.
    init(query: String) {
        var reader = MessageReader(maximumDepth: Self.depth)
        lines = [Self.read(Array("call?\(query)".utf8), with: &reader)]
    }

    /// The lines of a body, none of which is read yet.
    init(of body: ByteBuffer) { rest = body }

    /// The lines of a body, without empty ones.
    init(body: ByteBuffer) throws(TooMany) {
        self.init(of: body)
        while !isComplete { try readPiece() }
    }

    /// Whether the whole body has been read.
    var isComplete: Bool { rest.readableBytes == 0 }

    /// Reads some more lines of the body. Those after the last that is too many are not looked at.
    mutating func readPiece() throws(TooMany) {
        var reader = MessageReader(maximumDepth: Self.depth)
        let end = rest.readerIndex + Self.piece
        while rest.readerIndex < end, let line = Self.nextLine(of: &rest) {
            guard !line.isEmpty else { continue }
            guard lines.count < Self.max else { throw TooMany() }
            lines.append(Self.read(line, with: &reader))
        }
    }

    /// Without its line break.
    private static func nextLine(of rest: inout ByteBuffer) -> [UInt8]? {
        guard rest.readableBytes > 0 else { return nil }
        let end = rest.withUnsafeReadableBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, let found = memchr(base, 0x0A, bytes.count) else { return nil }
            return UnsafeRawPointer(found) - base
        }
        var line = rest.readBytes(length: end ?? rest.readableBytes) ?? []
        if end != nil { rest.moveReaderIndex(forwardBy: 1) }
        if line.last == 0x0D { line.removeLast() }
        return line
    }

    /// Reads a line of either form of the protocol; its id, if it has one, is ignored.
    private static func read(_ line: [UInt8], with reader: inout MessageReader) -> Line {
        switch line.withUnsafeBufferPointer({ reader.read($0) }) {
        case .message(.call(let request)):
            let bytes = start(of: request)
            defer { reader.giveBack(.call(request)) }
            return .call(command: request.command, bytes)
        case .message(.unreadable(let problem)): return .unreadable(problem)
        case .message(.answer):
            return .unreadable(UnreadableMessage(.badRequest, "an answer to a handler's call needs a WebSocket"))
        case .batch: return .unreadable(UnreadableMessage(.badRequest, "a line is one call; write each on its own"))
        }
    }

    /// The parameters pass as they are.
    private static func start(of request: Request) -> [UInt8] {
        var bytes = Array(#"{"handlerName":\#(JSONValue.string(request.command).text)"#.utf8)
        if request.parameterCount > 0 {
            bytes += Array(#","data":["#.utf8)
            for index in 0..<request.parameterCount {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                request.parameter(index).withBytes { text in
                    // White space between tokens: within a line it must not end the line.
                    for byte in text { bytes.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
                }
            }
            bytes.append(UInt8(ascii: "]"))
        }
        return bytes + Array(#","callbackId":""#.utf8)
    }

    /// The HTTP status for a code of the protocol.
    static func status(_ code: String) -> HTTPResponseStatus {
        HTTPResponseStatus(statusCode: CallFailure.httpStatus(of: code))
    }
}
