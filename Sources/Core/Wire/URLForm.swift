import JSON

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
        if let fault = fields.fault { return unreadable(URLFault.Problem(fault, line), request, fields) }
        guard let command = fields.command else {
            return unreadable(URLFault.Problem("'cmd' is missing"), request, fields)
        }
        do throws(URLFault.Problem) {
            let message = try fields.message(in: request, maximumDepth: maximumDepth)
            request.fill(command: command, id: fields.id, message: message, form: .url)
            return nil
        } catch {
            return unreadable(error, request, fields)
        }
    }

    private static func unreadable(
        _ problem: URLFault.Problem,
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
    func message(in request: Request, maximumDepth: Int) throws(URLFault.Problem) -> Range<Int> {
        guard let text = message, !text.isEmpty, !request.slice(text).equals("undefined") else { return 0..<0 }
        do throws(JSONError) {
            return try json(text, request, maximumDepth: maximumDepth)
        } catch {
            guard case .syntax = error else {
                throw URLFault.Problem("'msg' has \(error.message)", code: error.code)
            }
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
