import JSON

/// The ranges of the decoded values of a line's keys. They are found and decoded in one pass over the line.
struct URLFields {
    private(set) var command: Range<Int>?
    private(set) var id: Range<Int>?
    private(set) var message: Range<Int>?
    /// Whether the message has control characters, some of which would end a line.
    private(set) var messageHasControls = false
    /// The first mistake in the line.
    private(set) var fault: URLFault?

    private static let prefix: StaticString = "call?"

    /// Reads all pairs, even after a bad one, so that the error reply has the id.
    /// - Parameter text: the buffer for the decoded values, at least as long as the line.
    /// - Returns: the number of decoded bytes.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>, decodingTo text: UnsafeMutablePointer<UInt8>) -> Int {
        guard line.starts(with: Self.prefix) else {
            fault = URLFault(.prefix)
            return 0
        }
        var decoder = PercentDecoder(line, at: Self.prefix.utf8CodeUnitCount, to: text)
        repeat { readPair(&decoder, line) } while decoder.skip(UInt8(ascii: "&"))
        return decoder.written
    }

    @inline(__always)
    private mutating func readPair(_ decoder: inout PercentDecoder, _ line: UnsafeBufferPointer<UInt8>) {
        if decoder.skip("cmd=") {
            command = value(.cmd, before: command, &decoder)
            if command?.isEmpty ?? false { fail(URLFault(.empty, .cmd)) }
        } else if decoder.skip("id=") {
            id = value(.id, before: id, &decoder)
            guard let range = id, range.count > Limits.idBytes else { return }
            id = nil
            fail(URLFault(.tooLong, .id))
        } else if decoder.skip("msg=") {
            guard message == nil else { return fail(URLFault(.twice, .msg), skipping: &decoder) }
            message = value(.msg, before: nil, &decoder)
            messageHasControls = decoder.foundControl
        } else {
            let start = decoder.position
            decoder.skipToEnd()
            fail(URLFault(.unknownKey, .none, start..<decoder.position))
        }
    }

    private mutating func value(
        _ key: URLFault.Key,
        before: Range<Int>?,
        _ decoder: inout PercentDecoder
    ) -> Range<Int>? {
        guard before == nil else {
            fail(URLFault(.twice, key), skipping: &decoder)
            return before
        }
        let start = decoder.position
        if let range = decoder.value() { return range }
        decoder.skipToEnd()
        fail(URLFault(decoder.failure, key, (decoder.badEscape ?? start)..<decoder.position))
        return nil
    }

    private mutating func fail(_ fault: URLFault, skipping decoder: inout PercentDecoder) {
        decoder.skipToEnd()
        fail(fault)
    }

    /// Only the first mistake is reported.
    private mutating func fail(_ fault: URLFault) { self.fault = self.fault ?? fault }
}

/// A mistake in a line of the URL form. It holds no text, so recording it while reading is cheap.
struct URLFault {
    enum Kind { case prefix, empty, tooLong, twice, unknownKey, badEscape, nul, notText }
    enum Key: String { case none, cmd, id, msg }

    var kind: Kind
    var key: Key
    /// The bytes of the line that it concerns.
    var place: Range<Int>

    init(_ kind: Kind, _ key: Key = .none, _ place: Range<Int> = 0..<0) {
        self.kind = kind
        self.key = key
        self.place = place
    }

    /// The same as an error message.
    struct Problem: Error {
        var code = CommandError.Code.badRequest
        var message: String

        init(_ message: String, code: CommandError.Code = .badRequest) {
            self.message = message
            self.code = code
        }

        init(_ fault: URLFault, _ line: UnsafeBufferPointer<UInt8>) {
            self.init(fault.words(UnsafeBufferPointer(rebasing: line[fault.place])))
        }
    }

    private func words(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        switch kind {
        case .prefix: "a line begins with 'call?', '{' or '['"
        case .empty: "'\(key.rawValue)' is empty"
        case .tooLong: "'\(key.rawValue)' is longer than \(Limits.idBytes) bytes"
        case .twice: "'\(key.rawValue)' is given twice"
        case .unknownKey: Self.unknownKey(bytes)
        case .badEscape: "'\(key.rawValue)' \(PercentEncoding.Failure.badEscape(bytes).message)"
        case .nul: "'\(key.rawValue)' \(PercentEncoding.Failure.nul.message)"
        case .notText: "'\(key.rawValue)' \(PercentEncoding.Failure.notText.message)"
        }
    }

    private static func unknownKey(_ pair: UnsafeBufferPointer<UInt8>) -> String {
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else {
            return "'\(excerpt(pair[...]))' is not a key=value pair"
        }
        return "unknown key '\(excerpt(pair[..<equals]))'"
    }

    /// As much of the bytes as a message should show.
    private static func excerpt(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let text = String(decoding: bytes.prefix(160), as: UTF8.self)
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(40)))
    }
}
