public import JSON

/// Reads WebViewJavascriptBridge's messages: `{"handlerName", "data", "callbackId"}`, an answer
/// `{"responseId", "responseData" or "error"}`, or an array of them.
public enum BridgeForm {
    /// The messages of one line: one, or those of a batch in their order.
    public static func read(
        _ line: borrowing Span<UInt8>,
        maximumDepth: Int = JSONParser.defaultDepth
    ) -> [IncomingMessage] {
        guard line[0] == UInt8(ascii: "[") else { return [readMessage(line, maximumDepth: maximumDepth)] }
        do throws(JSONError) {
            return batch(try JSONParser.read(line, maximumDepth: maximumDepth))
        } catch {
            return [unreadable(error)]
        }
    }

    /// The message of a line that is no batch.
    static func readMessage(_ line: borrowing Span<UInt8>, maximumDepth: Int) -> IncomingMessage {
        var members = Members()
        do throws(JSONError) {
            let problem = try JSONParser.readObject(line, maximumDepth: maximumDepth) { members[$0] = $1 }
            return message(members, problem)
        } catch {
            return unreadable(error)
        }
    }

    /// A line that is no JSON, or too deep.
    private static func unreadable(_ error: JSONError) -> IncomingMessage {
        if case .tooDeep = error { return unreadable(.tooLarge, "the line has \(error.message)") }
        return unreadable(.badRequest, "the line is not JSON: \(error.message)")
    }

    /// The members of a message that mean something.
    private struct Members {
        private var handlerName, data, callbackId, responseId, responseData, error, end: JSONValue?

        init() {}

        init(_ object: JSONObject) {
            for (name, value) in object { self[name] = value }
        }

        subscript(name: String) -> JSONValue? {
            get {
                switch name {
                case "handlerName": handlerName
                case "data": data
                case "callbackId": callbackId
                case "responseId": responseId
                case "responseData": responseData
                case "error": error
                case "end": end
                default: nil
                }
            }
            set {
                switch name {
                case "handlerName": handlerName = newValue
                case "data": data = newValue
                case "callbackId": callbackId = newValue
                case "responseId": responseId = newValue
                case "responseData": responseData = newValue
                case "error": error = newValue
                case "end": end = newValue
                default: break
                }
            }
        }
    }

    private static func batch(_ text: JSONParser.Text) -> [IncomingMessage] {
        guard case .array(let batch) = text.value, !batch.isEmpty else {
            return [unreadable(.badRequest, "the batch is empty")]
        }
        return batch.enumerated().map { message($1, text.itemProblems[$0]) }
    }

    /// - Parameter problem: why a part of the message, `null` in its place, cannot be kept.
    private static func message(_ value: JSONValue, _ problem: JSONError?) -> IncomingMessage {
        guard let members = value.objectValue else {
            if let problem { return unreadable(problem.code, "the message has \(problem.message)") }
            return unreadable(.badRequest, "a message is an object with 'handlerName' or 'responseId'")
        }
        return message(Members(members), problem)
    }

    private static func message(_ members: Members, _ problem: JSONError?) -> IncomingMessage {
        if let responseId = members["responseId"] {
            return .answer(id: responseId.stringValue, answer(members, problem))
        }
        if members["handlerName"] == nil, let error = members["error"] {
            return .answer(id: nil, .failure(failure(error)))
        }
        return call(members, problem)
    }

    private static func call(_ members: Members, _ problem: JSONError?) -> IncomingMessage {
        let name = members["handlerName"]?.stringValue
        let id = members["callbackId"]?.stringValue
        guard (id?.utf8.count ?? 0) <= Limits.idBytes else {
            return unreadable(.badRequest, "'callbackId' is longer than \(Limits.idBytes) bytes", command: name)
        }
        if let problem {
            return unreadable(problem.code, "the message has \(problem.message)", command: name, id: id)
        }
        guard members["callbackId"] == nil || id != nil else {
            return unreadable(.badRequest, "'callbackId' is no string", command: name)
        }
        guard let name, !name.isEmpty else {
            return unreadable(.badRequest, "'handlerName' is missing, empty or no string", id: id)
        }
        let data = members["data"] ?? .null
        return .call(Request(name, parameters: Request.parameters(of: data), id: id, form: .bridge, data: data))
    }

    private static func answer(
        _ members: Members,
        _ problem: JSONError?
    ) -> Result<HandlerAnswer, HandlerFailure> {
        if let problem {
            let code = problem.code == .tooLarge ? problem.code : .scriptFailed
            return .failure(HandlerFailure(code: code, message: "the handler's answer has \(problem.message)"))
        }
        if let error = members["error"], error != .null { return .failure(failure(error)) }
        let replyCommand = members["handlerName"]?.stringValue
        return .success(
            HandlerAnswer(
                value: members["responseData"] ?? .null,
                replyCommand: replyCommand == "" ? nil : replyCommand,
                ends: members["end"]?.boolValue ?? false
            )
        )
    }

    private static func failure(_ error: JSONValue) -> HandlerFailure {
        let members = error.objectValue ?? [:]
        let places = HandlerFailure.placeNames.compactMap { name in members[name].map { (name, $0) } }
        return HandlerFailure(
            code: members["code"]?.stringValue.flatMap(CommandError.Code.init),
            message: members["message"]?.stringValue ?? error.stringValue
                ?? "the handler gave an error without message",
            field: members["field"]?.stringValue,
            place: JSONObject(places)
        )
    }

    private static func unreadable(
        _ code: CommandError.Code,
        _ message: String,
        command: String? = nil,
        id: String? = nil
    ) -> IncomingMessage {
        .unreadable(UnreadableMessage(command: command, id: id, code: code, message: message))
    }
}

extension JSONError {
    /// The code of an error reply.
    var code: CommandError.Code {
        if case .tooDeep = self { .tooLarge } else { .badRequest }
    }
}
