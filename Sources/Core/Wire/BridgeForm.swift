import JSON

/// The form of a message in WebViewJavascriptBridge: `{"handlerName", "data", "callbackId"}`, or an answer
/// `{"responseId", "responseData" or "error"}`.
public enum BridgeForm {
    /// Reads a message. If it is a call, `request` is filled with it.
    static func read(
        _ message: UnsafeBufferPointer<UInt8>,
        into request: consuming Request,
        maximumDepth: Int
    ) -> IncomingMessage {
        guard message.first == UInt8(ascii: "{") else {
            return unreadable(.badRequest, "a message is an object with 'handlerName' or 'responseId'")
        }
        request.clear(capacity: message.count)
        request.append(message)
        var members = Members()
        do throws(JSONError) {
            try members.read(request, maximumDepth: maximumDepth)
            // A cut emoji in a handler's answer must not lose the whole answer.
            if members.isAnswerWithHalfPair {
                request.rewrite(from: 0) { bytes in
                    JSONScanner.replaceHalfPairs(in: bytes)
                    return bytes.count
                }
                members = Members()
                try members.read(request, maximumDepth: maximumDepth)
            }
        } catch {
            guard let id = text(of: "responseId", atStartOf: message) else { return .unreadable(unreadable(error)) }
            return .answer(id: id, .failure(unreadableAnswer(error)))
        }
        if let answer = members.answer(in: request) { return answer }
        if let message = members.fill(request) { return .unreadable(message) }
        return .call(request)
    }

    /// The error for an answer that is not JSON, or too deep: the call that waits for it must not wait longer.
    private static func unreadableAnswer(_ error: JSONError) -> HandlerFailure {
        if case .tooDeep = error {
            return HandlerFailure(.tooLarge, "the handler's answer has \(error.message)")
        }
        return HandlerFailure(.scriptFailed, "the handler's answer is not JSON: \(error.message)")
    }

    /// The error for a line that is not JSON, or too deep.
    static func unreadable(_ error: JSONError) -> UnreadableMessage {
        if case .tooDeep = error { return UnreadableMessage(.tooLarge, "the line has \(error.message)") }
        return UnreadableMessage(.badRequest, "the line is not JSON: \(error.message)")
    }

    private static func unreadable(
        _ code: CommandError.Code,
        _ message: String,
        command: String? = nil,
        id: String? = nil
    ) -> IncomingMessage {
        .unreadable(UnreadableMessage(code, message, command: command, id: id))
    }

    /// A member of a line that cannot be parsed, if it is a text and among the members that are whole at its start.
    static func text(of member: StaticString, atStartOf line: UnsafeBufferPointer<UInt8>) -> String? {
        let start = UnsafeBufferPointer(rebasing: line.prefix(512))
        var scanner = JSONScanner(start)
        guard scanner.skip(UInt8(ascii: "{")) else { return nil }
        repeat {
            scanner.skipWhiteSpace()
            guard let name = try? scanner.name() else { return nil }
            if UnsafeBufferPointer(rebasing: start[name]).equals(member) { return text(&scanner, start) }
            scanner.skipWhiteSpace()
            guard (try? scanner.skipValue(depth: 1)) != nil else { return nil }
            scanner.skipWhiteSpace()
        } while scanner.skip(UInt8(ascii: ","))
        return nil
    }

    /// The text that is next; nil if it is none.
    static func text(_ scanner: inout JSONScanner, _ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        scanner.skipWhiteSpace()
        guard scanner.next == UInt8(ascii: "\""), let text = try? scanner.string() else { return nil }
        return String(checkedJSON: UnsafeBufferPointer(rebasing: bytes[text]))
    }

    /// The known member names.
    private enum Key {
        case handlerName, data, callbackID, responseID, responseData, error, end

        /// - Parameter name: the text between the quotes.
        @inline(__always)
        init?(_ name: UnsafeBufferPointer<UInt8>) {
            guard let key = Key(plain: name) ?? Key(escaped: name) else { return nil }
            self = key
        }

        private init?(escaped name: UnsafeBufferPointer<UInt8>) {
            guard name.contains(UInt8(ascii: "\\")) else { return nil }
            var text = String(checkedJSON: name)
            guard let key = text.withUTF8({ Key(plain: $0) }) else { return nil }
            self = key
        }

        @inline(__always)
        private init?(plain name: UnsafeBufferPointer<UInt8>) {
            switch name.count {
            case 3 where name.equals("end"): self = .end
            case 4 where name.equals("data"): self = .data
            case 5 where name.equals("error"): self = .error
            case 10 where name.equals("callbackId"): self = .callbackID
            case 10 where name.equals("responseId"): self = .responseID
            case 11 where name.equals("handlerName"): self = .handlerName
            case 12 where name.equals("responseData"): self = .responseData
            default: return nil
            }
        }
    }

    /// The positions of a message's known members. If a name is repeated, the last one counts.
    private struct Members {
        private var handlerName, data, callbackID, responseID, responseData, error, end: Range<Int>?
        /// Why a part of the message cannot be stored.
        private var problem: JSONScanner.Problem?

        mutating func read(_ bytes: Request, maximumDepth: Int) throws(JSONError) {
            var scanner = JSONScanner(bytes.slice(0..<bytes.count), maximumDepth: maximumDepth)
            try scanner.skipObject { (scanner, name) throws(JSONError) in try take(name, &scanner, bytes) }
            try scanner.finish()
            problem = scanner.problem
        }

        @inline(__always)
        private mutating func take(
            _ name: Range<Int>,
            _ scanner: inout JSONScanner,
            _ bytes: Request
        ) throws(JSONError) {
            let key = Key(bytes.slice(name))
            if key == .data {
                data = try bytes.takeMessage(&scanner, depth: 1)
                return
            }
            let start = scanner.position
            try scanner.skipValue(depth: 1)
            // Null is as absent.
            let isNull = bytes.slice(start..<scanner.position).first == UInt8(ascii: "n")
            let value = isNull ? nil : start..<scanner.position
            switch key {
            case .handlerName: handlerName = value
            case .callbackID: callbackID = value
            case .responseID: responseID = value
            case .responseData: responseData = value
            case .error: error = value
            case .end: end = value
            case .data, nil: break
            }
        }

        var isAnswerWithHalfPair: Bool {
            guard responseID != nil, case .halfPair? = problem else { return false }
            return true
        }

        private func string(_ range: Range<Int>?, _ bytes: Request) -> String? {
            range.flatMap { JSONText(checked: bytes, $0).stringValue }
        }

        // MARK: What the message is

        /// The answer; nil if the message is a call.
        func answer(in bytes: Request) -> IncomingMessage? {
            if let responseID { return .answer(id: string(responseID, bytes), outcome(in: bytes)) }
            guard handlerName == nil, let error else { return nil }
            return .answer(id: nil, .failure(failure(JSONText(checked: bytes, error).value)))
        }

        /// Fills the request with the call.
        /// - Returns: why the message is not a call; nil if it is one.
        func fill(_ bytes: Request) -> UnreadableMessage? {
            let command = handlerName.flatMap { text($0, bytes) }
            let id = callbackID.flatMap { text($0, bytes) }
            if let problem = problem(command, id) {
                var told = problem
                told.command = command.map { bytes.text($0) }
                told.id = id.flatMap { $0.count <= Limits.idBytes ? bytes.text($0) : nil }
                return told
            }
            bytes.fill(command: command ?? 0..<0, id: id, message: data ?? 0..<0, form: .bridge)
            return nil
        }

        private func problem(_ command: Range<Int>?, _ id: Range<Int>?) -> UnreadableMessage? {
            if let id, id.count > Limits.idBytes {
                return UnreadableMessage(.badRequest, "'callbackId' is longer than \(Limits.idBytes) bytes")
            }
            if let problem {
                return UnreadableMessage(problem.error.code, "the message has \(problem.error.message)")
            }
            if callbackID != nil, id == nil { return UnreadableMessage(.badRequest, "'callbackId' is not a string") }
            guard let command, !command.isEmpty else {
                return UnreadableMessage(
                    .badRequest,
                    "a command has a name: 'handlerName' is missing, empty or not a string"
                )
            }
            return nil
        }

        /// The range of a string's text; nil if it is another kind of value or not valid text. A string with escapes is
        /// unescaped into a copy at the end.
        @inline(__always)
        private func text(_ range: Range<Int>, _ bytes: Request) -> Range<Int>? {
            guard bytes.slice(range).first == UInt8(ascii: "\"") else { return nil }
            let inner = (range.lowerBound + 1)..<(range.upperBound - 1)
            return bytes.slice(inner).contains(UInt8(ascii: "\\")) ? unescaped(range, inner, bytes) : inner
        }

        private func unescaped(_ range: Range<Int>, _ inner: Range<Int>, _ bytes: Request) -> Range<Int>? {
            let value = bytes.slice(range)
            var scanner = JSONScanner(value)
            // A lone surrogate.
            guard (try? scanner.string()) != nil, scanner.problem == nil else { return nil }
            var text = String(checkedJSON: bytes.slice(inner))
            return text.withUTF8 { text in
                bytes.reserve(bytes.count + text.count)
                bytes.append(text)
                return (bytes.count - text.count)..<bytes.count
            }
        }

        // MARK: Answers

        private func outcome(in bytes: Request) -> HandlerOutcome {
            func json(_ range: Range<Int>) -> JSONText { JSONText(checked: bytes, range) }
            if let error = problem?.error {
                let code = error.code == .tooLarge ? error.code : .scriptFailed
                return .failure(HandlerFailure(code, "the handler's answer has \(error.message)"))
            }
            if let error { return .failure(failure(json(error).value)) }
            let name = string(handlerName, bytes)
            return .answer(
                HandlerAnswer(
                    responseData.map { .text(json($0)) } ?? .null,
                    replyCommand: name == "" ? nil : name,
                    ends: end.map { bytes.slice($0).first == UInt8(ascii: "t") } ?? false
                )
            )
        }

        private func failure(_ error: JSONValue) -> HandlerFailure {
            let members = error.objectValue ?? [:]
            let message = members["message"]?.stringValue ?? error.stringValue
            var failure = HandlerFailure(
                members["code"]?.stringValue.flatMap(CommandError.Code.init),
                message.map { $0.cut(toEncoded: 800) } ?? "the handler gave an error without message",
                field: members["field"]?.stringValue.map { $0.cut(toEncoded: 180) }
            )
            for name in HandlerFailure.detailNames {
                failure.details[name] = members[name].map { Self.cut($0, to: name == "stack" ? 900 : 200) }
            }
            return failure
        }

        /// A handler's error text is sent to the caller, so its size must be in proportion to the call.
        private static func cut(_ value: JSONValue, to bytes: Int) -> JSONValue {
            switch value {
            case .array, .object: .null
            case .string(let text): .string(text.cut(toEncoded: bytes))
            default: value
            }
        }
    }
}

extension String {
    /// As much of the text as takes that many bytes on a line of either form, escaped and encoded, with `…` if it is
    /// cut.
    fileprivate func cut(toEncoded budget: Int) -> String {
        var cost = 0
        var index = unicodeScalars.startIndex
        while index < unicodeScalars.endIndex {
            let scalar = unicodeScalars[index]
            switch scalar.value {
            case 0..<0x20: cost += 8
            case 0x22, 0x5C: cost += 6
            default: cost += scalar.isASCII && URIComponent.keeps(UInt8(scalar.value)) ? 1 : 3 * UTF8.width(scalar)
            }
            if cost > budget { return String(unicodeScalars[..<index]) + "…" }
            index = unicodeScalars.index(after: index)
        }
        return self
    }
}
