/// Writes frames as a server sends them: whole messages, not masked.
package enum FrameWriter {
    /// Appends a frame. A server's frames are never masked.
    package static func append(_ opcode: Opcode, _ payload: UnsafeRawBufferPointer, to frames: inout [UInt8]) {
        frames.append(0x80 | opcode.rawValue)
        appendLength(payload.count, to: &frames)
        frames.append(contentsOf: payload)
    }

    /// The bytes of a close frame.
    package static func close(_ code: CloseCode?, _ reason: String = "") -> [UInt8] {
        var payload: [UInt8] = []
        if let code {
            append(code.rawValue, to: &payload)
            payload += Array(reason.utf8).prefixOfText(maxReason)
        }
        var frame: [UInt8] = []
        payload.withUnsafeBytes { append(.close, $0, to: &frame) }
        return frame
    }

    /// A control frame has at most 125 bytes, two of which are the code.
    private static let maxReason = 123

    private static func appendLength(_ length: Int, to frames: inout [UInt8]) {
        switch length {
        case ...125: frames.append(UInt8(length))
        case ...0xFFFF:
            frames.append(126)
            append(UInt16(length), to: &frames)
        default:
            frames.append(127)
            append(UInt64(length), to: &frames)
        }
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension [UInt8] {
    /// At most that many bytes of a text, cut between two characters.
    fileprivate func prefixOfText(_ length: Int) -> ArraySlice<UInt8> {
        guard count > length else { return self[...] }
        var end = length
        while end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
        return self[..<end]
    }
}
