public import JSON

/// QuickConnect's form of a line: `call?cmd=…&msg=…&id=…`, read by key, in any order.
public enum URLForm {
    /// Reads a line. If it is a call, `request` is filled with it.
    static func read(
        _ line: UnsafeBufferPointer<UInt8>,
        into request: consuming Request,
        maximumDepth: Int
    ) -> IncomingMessage {
        if let message = fill(request, line, maximumDepth: maximumDepth) { return .unreadable(message) }
        return .call(request)
    }

    /// - Returns: why the line is not a call; nil if it is one.
    private static func fill(
        _ request: Request,
        _ line: UnsafeBufferPointer<UInt8>,
        maximumDepth: Int
    ) -> UnreadableMessage? {
        request.clear(capacity: line.count)
        var fields = URLFields()
        request.append(atMost: line.count) { fields.read(line, decodingTo: $0) }
        if let fault = fields.fault { return unreadable(fault.error(in: line), request, fields) }
        guard let command = fields.command else {
            return unreadable(CommandError(.badRequest, "'cmd' is missing"), request, fields)
        }
        do throws(CommandError) {
            let message = try fields.message(in: request, maximumDepth: maximumDepth)
            request.fill(command: command, id: fields.id, message: message, form: .url)
            return nil
        } catch {
            return unreadable(error, request, fields)
        }
    }

    private static func unreadable(
        _ problem: CommandError,
        _ bytes: SharedBytes,
        _ fields: URLFields
    ) -> UnreadableMessage {
        UnreadableMessage(
            problem.code,
            problem.message,
            command: fields.command.map { bytes.text($0) },
            id: fields.id.map { bytes.text($0) }
        )
    }
}

extension URLFields {
    /// Checks the message and stores its items in the request. Text that is not JSON is one parameter, a string.
    /// - Returns: the range of the message; empty if there is none.
    func message(in request: Request, maximumDepth: Int) throws(CommandError) -> Range<Int> {
        guard let text = message, !text.isEmpty, !request.slice(text).equals("undefined") else { return 0..<0 }
        do throws(JSONError) {
            return try json(text, request, maximumDepth: maximumDepth)
        } catch {
            guard case .syntax = error else { throw CommandError(error.code, "'msg' has \(error.message)") }
            return Self.string(text, request)
        }
    }

    private func json(_ text: Range<Int>, _ request: Request, maximumDepth: Int) throws(JSONError) -> Range<Int> {
        var scanner = JSONScanner(request.slice(text), maximumDepth: maximumDepth)
        scanner.skipWhiteSpace()
        let message = try request.takeMessage(&scanner, depth: 0, offset: text.lowerBound)
        try scanner.finish()
        if let problem = scanner.problem { throw problem.error }
        // Line breaks between JSON tokens: they would end the line when the message is passed on.
        if messageHasControls {
            for lineBreak in [0x0A, 0x0D] as [UInt8] { request.replace(lineBreak, with: UInt8(ascii: " "), in: text) }
        }
        return message
    }

    /// Appends the text as a JSON string to the request's bytes.
    private static func string(_ text: Range<Int>, _ request: Request) -> Range<Int> {
        let quoted = OutputBuffer(capacity: text.count + 64)
        quoted.append(json: request.slice(text))
        request.reserve(request.count + quoted.count)
        let start = request.count
        quoted.withBytes { request.append($0) }
        return request.takeMessage(start..<request.count)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes begin with an ASCII text.
    @inline(__always)
    func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length, let base = baseAddress else { return length == 0 }
        for index in 0..<length where base[index] != text.utf8Start[index] { return false }
        return true
    }

    func equals(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && starts(with: text) }
}

extension SharedBytes {
    func replace(_ byte: UInt8, with other: UInt8, in range: Range<Int>) {
        rewrite(from: range.lowerBound) { bytes in
            for index in 0..<range.count where bytes[index] == byte { bytes[index] = other }
            return bytes.count
        }
    }
}

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
            fault = URLFault(.prefix, .none, 0..<min(URLFault.mark.utf8CodeUnitCount, line.count))
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

    static let mark: StaticString = "\u{FEFF}"

    var kind: Kind
    var key: Key
    /// The bytes of the line that it concerns.
    var place: Range<Int>

    init(_ kind: Kind, _ key: Key = .none, _ place: Range<Int> = 0..<0) {
        self.kind = kind
        self.key = key
        self.place = place
    }

    func error(in line: UnsafeBufferPointer<UInt8>) -> CommandError {
        CommandError(.badRequest, words(UnsafeBufferPointer(rebasing: line[place])))
    }

    private func words(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        switch kind {
        case .prefix where bytes.equals(Self.mark):
            "a line begins with 'call?', '{' or '[', and this one with U+FEFF, a byte order mark, which nobody sees"
        case .prefix: "a line begins with 'call?', '{' or '['"
        case .empty: "'\(key.rawValue)' is empty"
        case .tooLong: "'\(key.rawValue)' is longer than \(Limits.idBytes) bytes"
        case .twice: "'\(key.rawValue)' is given twice"
        case .unknownKey: Self.unknownKey(bytes)
        case .badEscape: "'\(key.rawValue)' has the bad escape '\(String(decoding: bytes.prefix(3), as: UTF8.self))'"
        case .nul: "'\(key.rawValue)' has a NUL"
        case .notText: "'\(key.rawValue)' is not UTF-8"
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

/// A line `handleJSONRequest?cmd=…&msg=…[&id=…]`, parsed by a client.
public struct URLReply: Sendable, Hashable {
    /// The command of the reply.
    public var command: String
    /// The reply's value.
    public var value: JSONValue
    /// The id of the call, if it had one.
    public var id: String?

    /// Nil if the line is not such a reply.
    public init?(_ line: [UInt8]) {
        let prefix = Array("handleJSONRequest?".utf8)
        guard line.starts(with: prefix) else { return nil }
        var fields: [String: String] = [:]
        for pair in line.dropFirst(prefix.count).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            fields[String(decoding: parts[0], as: UTF8.self)] = Array(parts[1]).withUnsafeBufferPointer {
                PercentEncoding.decode($0)
            }
        }
        guard let command = fields["cmd"], let value = try? JSONParser.parse(fields["msg"] ?? "null") else {
            return nil
        }
        self.command = command
        self.value = value
        id = fields["id"]
    }
}
