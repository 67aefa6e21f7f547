/// Reads WebViewJavascriptBridge's messages: `{"handlerName", "data", "callbackId"}`, an answer
/// `{"responseId", "responseData" or "error"}`, or an array of them.
public enum BridgeForm {
    /// The messages of one line: one, or those of a batch in their order.
    public static func read(
        _ line: borrowing Span<UInt8>,
        maximumDepth: Int = Limits.defaultDepth
    ) -> [IncomingMessage] {
        let text: JSONParser.Text
        do throws(JSONError) {
            text = try JSONParser.read(line, maximumDepth: maximumDepth)
        } catch .tooDeep(let limit) {
            return [unreadable(.tooLarge, "the line has \(JSONError.tooDeep(limit: limit).message)")]
        } catch {
            return [unreadable(.badRequest, "the line is not JSON: \(error.message)")]
        }
        guard case .array(let batch) = text.value else { return [message(text.value, text.problem)] }
        guard !batch.isEmpty else { return [unreadable(.badRequest, "the batch is empty")] }
        return batch.enumerated().map { message($1, text.itemProblems[$0]) }
    }

    /// - Parameter problem: why a part of the message, `null` in its place, cannot be kept.
    private static func message(_ value: JSONValue, _ problem: JSONError?) -> IncomingMessage {
        guard let members = value.objectValue else {
            if let problem { return unreadable(problem.code, "the message has \(problem.message)") }
            return unreadable(.badRequest, "a message is an object with 'handlerName' or 'responseId'")
        }
        if let responseId = members["responseId"] {
            return .answer(id: responseId.stringValue, answer(members, problem))
        }
        if members["handlerName"] == nil, let error = members["error"] {
            return .answer(id: nil, .failure(failure(error)))
        }
        return call(members, problem)
    }

    private static func call(_ members: JSONObject, _ problem: JSONError?) -> IncomingMessage {
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
        _ members: JSONObject,
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
