import JSON

extension OutgoingMessage {
    /// Appends the message as one line, `\n` at its end.
    public func write(to bytes: inout [UInt8]) {
        switch self {
        case .reply(let reply): reply.write(to: &bytes)
        case .event(let event, .url):
            URLForm.write(command: event.name, value: event.value, id: nil, to: &bytes)
        case .event(let event, .bridge):
            BridgeForm.write(["handlerName": .string(event.name), "data": event.value], to: &bytes)
        case .handlerCall(let call): call.write(to: &bytes)
        }
    }
}

extension Reply {
    func write(to bytes: inout [UInt8]) {
        switch form {
        case .url:
            URLForm.write(command: command, value: urlValue, id: id, to: &bytes)
        case .bridge:
            BridgeForm.write(bridgeMembers, to: &bytes)
        }
    }

    private var urlValue: JSONValue {
        switch body {
        case .value(let value): value
        case .error(let error): error.payload(command: call)
        }
    }

    private var bridgeMembers: JSONObject {
        switch (body, id) {
        case (.value(let value), let id?):
            var members: JSONObject = ["responseId": .string(id), "responseData": value]
            if command != call { members["handlerName"] = .string(command) }
            return members
        case (.value(let value), nil): return ["handlerName": .string(command), "data": value]
        case (.error(let error), let id?):
            return ["responseId": .string(id), "error": error.payload(command: call)]
        case (.error(let error), nil): return ["error": error.payload(command: call)]
        }
    }
}

extension HandlerCall {
    /// Member by member, without making an object first: it is the line that scripts cost most of.
    fileprivate func write(to bytes: inout [UInt8]) {
        bytes.append("{\"handlerName\":")
        JSONValue.write(handler, to: &bytes)
        bytes.append(",\"data\":")
        data.write(to: &bytes)
        bytes.append(",\"callbackId\":")
        JSONValue.write(callbackId, to: &bytes)
        bytes.append(",\"command\":")
        JSONValue.write(command, to: &bytes)
        bytes.append(",\"phase\":")
        JSONValue.write(phase.rawValue, to: &bytes)
        bytes.append(",\"results\":")
        JSONValue.array(results).write(to: &bytes)
        if let error {
            bytes.append(",\"error\":")
            error.payload(command: command).write(to: &bytes)
        }
        bytes.append("}\n")
    }
}

extension URLForm {
    static func writeStart(command: String, to bytes: inout [UInt8]) {
        bytes.append("handleJSONRequest?cmd=")
        PercentEncoding.encode(command, into: &bytes)
    }

    /// Appends `handleJSONRequest?cmd=…&msg=…[&id=…]`.
    static func write(command: String, value: JSONValue, id: String?, to bytes: inout [UInt8]) {
        writeStart(command: command, to: &bytes)
        bytes.append("&msg=")
        var json: [UInt8] = []
        value.write(to: &json)
        json.withUnsafeBufferPointer { PercentEncoding.encode($0, into: &bytes) }
        if let id {
            bytes.append("&id=")
            PercentEncoding.encode(id, into: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension BridgeForm {
    static func write(_ members: JSONObject, to bytes: inout [UInt8]) {
        JSONValue.object(members).write(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }
}
