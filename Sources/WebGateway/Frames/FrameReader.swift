/// Reads the frames of a page, as a value without input or output: bytes go in, lines for the daemon and answers to the
/// page come out.
///
/// NIO's decoder checks few of the rules of RFC 6455, and passes each frame through the pipeline singly. Here all
/// frames of a read are unmasked directly in the buffer for the daemon, and each rule is written once.
public struct FrameReader {
    /// How it ends.
    public enum End: Sendable, Equatable {
        /// The page has sent a close frame, with or without a code.
        case closed(CloseCode?)
        /// It broke a rule.
        case failed(CloseCode, String)
    }

    /// The longest message, in bytes, whatever its fragments.
    private let limit: Int
    private var header = FrameHeader()
    private var frame: Frame?
    /// Complete messages, each with its line break, and the beginning of the next one.
    private var text: [UInt8] = []
    private var messageStart = 0
    private var isInMessage = false
    private var control: [UInt8] = []
    private var answers: [UInt8] = []
    /// Set once; nothing is read after that.
    public private(set) var end: End?

    private struct Frame {
        let opcode: Opcode
        let isFinal: Bool
        var mask: Mask
        var left: Int
    }

    /// A reader for messages of at most that many bytes.
    public init(limit: Int) { self.limit = limit }

    /// Takes bytes in any pieces.
    public mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while end == nil, !rest.isEmpty {
            if frame == nil { readHeader(&rest) } else { readPayload(&rest) }
        }
    }

    /// The complete lines, each with its line break. They are returned once.
    public mutating func takeLines() -> [UInt8] {
        guard messageStart > 0 else { return [] }
        var lines: [UInt8] = []
        swap(&lines, &text)
        if messageStart < lines.count {
            text = Array(lines[messageStart...])
            lines.removeSubrange(messageStart...)
        }
        messageStart = 0
        return lines
    }

    /// The frames that answer pings. They are returned once.
    public mutating func takeAnswers() -> [UInt8] {
        defer { answers = [] }
        return answers
    }

    // MARK: Headers

    private mutating func readHeader(_ rest: inout Slice<UnsafeRawBufferPointer>) {
        var problem: End?
        let isInMessage = isInMessage
        let isWhole = header.take(&rest) { header in
            problem = Self.problem(of: header, isInMessage: isInMessage)
            return problem == nil
        }
        if let problem { return end = problem }
        if isWhole { begin(header) }
    }

    private static func problem(of header: FrameHeader, isInMessage: Bool) -> End? {
        guard !header.hasReservedBits else { return .failed(.protocolError, "no extension was agreed on") }
        guard let opcode = header.opcode else { return .failed(.protocolError, "unknown opcode") }
        guard header.isMasked else { return .failed(.protocolError, "a client's frames are masked") }
        if opcode.isControl {
            guard header.isFinal, !header.hasLongLength else {
                return .failed(.protocolError, "a control frame has up to 125 bytes and no fragments")
            }
            return nil
        }
        guard (opcode == .continuation) == isInMessage else {
            return .failed(.protocolError, isInMessage ? "a message was begun before" : "no message was begun")
        }
        return opcode == .binary ? .failed(.unacceptable, "messages are text") : nil
    }

    private mutating func begin(_ header: FrameHeader) {
        self.header = FrameHeader()
        guard let opcode = header.opcode, let length = header.length else {
            return end = .failed(.protocolError, "a length is written in as few bytes as it needs")
        }
        let before = opcode.isControl ? 0 : text.count - messageStart
        guard length <= UInt64(max(0, limit - before)) || opcode.isControl else {
            return end = .failed(.tooLarge, "a message has up to \(limit) bytes")
        }
        let frame = Frame(opcode: opcode, isFinal: header.isFinal, mask: header.mask, left: Int(length))
        self.frame = frame
        if length == 0 { finish(frame) }
    }

    // MARK: Payloads

    private mutating func readPayload(_ rest: inout Slice<UnsafeRawBufferPointer>) {
        guard var frame else { return }
        let piece = rest.prefix(frame.left)
        rest = rest.dropFirst(piece.count)
        frame.left -= piece.count
        if frame.opcode.isControl {
            Self.append(piece, to: &control, &frame.mask)
        } else {
            Self.append(piece, to: &text, &frame.mask)
        }
        self.frame = frame
        if frame.left == 0 { finish(frame) }
    }

    private static func append(_ piece: Slice<UnsafeRawBufferPointer>, to bytes: inout [UInt8], _ mask: inout Mask) {
        let start = bytes.count
        bytes.append(contentsOf: piece)
        bytes.withUnsafeMutableBytes { bytes in
            mask.remove(from: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    private mutating func finish(_ frame: Frame) {
        self.frame = nil
        guard frame.opcode.isControl else { return finishData(isFinal: frame.isFinal) }
        switch frame.opcode {
        case .ping: control.withUnsafeBytes { FrameWriter.append(.pong, $0, to: &answers) }
        case .close: end = Self.goodbye(control)
        default: break
        }
        control = []
    }

    private mutating func finishData(isFinal: Bool) {
        isInMessage = !isFinal
        guard isFinal else { return }
        guard Self.isText(text.span.extracting(messageStart...)) else {
            text.removeSubrange(messageStart...)
            return end = .failed(.invalidText, "text is UTF-8")
        }
        text.append(UInt8(ascii: "\n"))
        messageStart = text.count
    }

    private static func goodbye(_ payload: [UInt8]) -> End {
        guard !payload.isEmpty else { return .closed(nil) }
        guard payload.count > 1 else { return .failed(.protocolError, "a close code has two bytes") }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.maySay else { return .failed(.protocolError, "no close code: \(code.rawValue)") }
        return isText(payload.span.extracting(2...)) ? .closed(code) : .failed(.invalidText, "text is UTF-8")
    }

    private static func isText(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }
}
