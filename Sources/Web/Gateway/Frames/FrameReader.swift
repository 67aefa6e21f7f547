/// Reads the frames of a page, as a value without input or output: bytes go in, lines for the daemon and answers to the
/// page come out. Text is checked as it comes, so a message that is none ends at its first wrong byte.
///
/// NIO's decoder checks few of the rules of RFC 6455, and passes each frame through the pipeline singly. Here all
/// frames of a read are unmasked directly in the buffer for the daemon, and each rule is written once.
package struct FrameReader {
    /// How it ends.
    package enum End: Sendable, Equatable {
        /// The page has sent a close frame, with or without a code.
        case closed(CloseCode?)
        /// It broke a rule.
        case failed(CloseCode, String)
    }

    /// The longest message, in bytes, whatever its fragments.
    private let limit: Int
    private let takesBinary: Bool
    private var header = FrameHeader()
    private var frame: Frame?
    /// Complete messages, each with its line break, and the beginning of the next one.
    private var text: [UInt8] = []
    private var messageStart = 0
    private var isInMessage = false
    /// Of the message that was begun last.
    private var isBinary = false
    /// How many bytes of the message that is not complete are known to be text.
    private var checked = 0
    private var control: [UInt8] = []
    /// The payloads of the newest pings that have no answer yet.
    private var pings: [[UInt8]] = []
    /// Of more pings at once only the newest are answered.
    private static let maxPings = 16
    /// Set once; nothing is read after that.
    package private(set) var end: End?

    private struct Frame {
        let opcode: Opcode
        let isFinal: Bool
        var mask: Mask
        var left: Int
    }

    /// A reader for messages of at most that many bytes.
    /// - Parameter takesBinary: whether messages may be binary. The gateway's may not: they are lines.
    package init(limit: Int, takesBinary: Bool = false) {
        self.limit = limit
        self.takesBinary = takesBinary
    }

    /// Takes bytes in any pieces.
    package mutating func read(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while end == nil, !rest.isEmpty { readPart(&rest) }
    }

    /// Takes bytes up to the end of one message or of one ping, for servers whose messages are not lines.
    /// - Returns: the message's kind and what it carries; nil if it is not complete yet.
    package mutating func readMessage(_ rest: inout Slice<UnsafeRawBufferPointer>) -> (kind: Opcode, payload: [UInt8])?
    {
        while end == nil, messageStart == 0, pings.isEmpty, !rest.isEmpty { readPart(&rest) }
        return messageStart == 0 ? nil : (isBinary ? .binary : .text, takeLines().dropLast())
    }

    /// The complete lines, each with its line break. They are returned once.
    package mutating func takeLines() -> [UInt8] {
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

    /// The frames that answer pings. They are returned once. If more pings wait than are kept, the newest win, which
    /// RFC 6455 allows (section 5.5.3).
    package mutating func takeAnswers() -> [UInt8] {
        guard !pings.isEmpty else { return [] }
        var answers: [UInt8] = []
        for ping in pings { ping.withUnsafeBytes { FrameWriter.append(.pong, $0, to: &answers) } }
        pings = []
        return answers
    }

    private mutating func readPart(_ rest: inout Slice<UnsafeRawBufferPointer>) {
        if frame == nil { readHeader(&rest) } else { readPayload(&rest) }
    }

    /// How many bytes of messages are kept.
    package var pendingCount: Int { text.count }

    // MARK: Headers

    private mutating func readHeader(_ rest: inout Slice<UnsafeRawBufferPointer>) {
        var problem: End?
        let (isInMessage, takesBinary) = (isInMessage, takesBinary)
        let isWhole = header.take(&rest) { header in
            problem = Self.problem(of: header, isInMessage: isInMessage, takesBinary: takesBinary)
            return problem == nil
        }
        if let problem { return end = problem }
        if isWhole { begin(header) }
    }

    private static func problem(of header: FrameHeader, isInMessage: Bool, takesBinary: Bool) -> End? {
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
        return opcode == .binary && !takesBinary ? .failed(.unacceptable, "messages are text") : nil
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
        if !opcode.isControl, opcode != .continuation { isBinary = opcode == .binary }
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
        if frame.left == 0 { finish(frame) } else if !frame.opcode.isControl { checkText(isComplete: false) }
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
        case .ping:
            if pings.count >= Self.maxPings { pings.removeFirst() }
            pings.append(control)
        case .close: end = Self.goodbye(control)
        default: break
        }
        control = []
    }

    private mutating func finishData(isFinal: Bool) {
        isInMessage = !isFinal
        guard checkText(isComplete: isFinal), isFinal else { return }
        text.append(UInt8(ascii: "\n"))
        messageStart = text.count
        checked = 0
    }

    /// Checks what has come of a message since the last time.
    /// - Returns: whether it is text so far, or need not be.
    @discardableResult
    private mutating func checkText(isComplete: Bool) -> Bool {
        guard !isBinary else { return true }
        guard let count = lengthOfText(isComplete: isComplete) else {
            text.removeSubrange(messageStart...)
            end = .failed(.invalidText, "text is UTF-8")
            return false
        }
        checked += count
        return true
    }

    /// How many of the bytes that were not checked yet are text; nil if they are none.
    private func lengthOfText(isComplete: Bool) -> Int? {
        let bytes = text.span.extracting((messageStart + checked)...)
        return isComplete ? (bytes.isText ? bytes.count : nil) : bytes.textPrefix
    }

    private static func goodbye(_ payload: [UInt8]) -> End {
        guard !payload.isEmpty else { return .closed(nil) }
        guard payload.count > 1 else { return .failed(.protocolError, "a close code has two bytes") }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.maySay else { return .failed(.protocolError, "no close code: \(code.rawValue)") }
        return payload.span.extracting(2...).isText ? .closed(code) : .failed(.invalidText, "text is UTF-8")
    }
}
