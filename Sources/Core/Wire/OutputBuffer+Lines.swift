public import JSON

/// The lines that are sent, each ending with `\n`.
extension OutputBuffer {
    // MARK: Replies

    /// A value as the reply to a call.
    /// - Parameters:
    ///   - command: the command of the reply; nil: the call's own.
    ///   - isFinal: whether it is the call's one final reply, which carries the id.
    func appendReply(_ message: Message, to call: borrowing Call, under command: String?, isFinal: Bool) {
        call.borrowedRequest { request in
            call.description { appendReply(message, to: request, of: $0, under: command, isFinal: isFinal) }
        }
        append(UInt8(ascii: "\n"))
    }

    private func appendReply(
        _ message: Message,
        to request: Request,
        of description: CommandDescription,
        under command: String?,
        isFinal: Bool
    ) {
        let hasID = isFinal && request.hasID
        switch request.form {
        case .url:
            if let command { appendURL(command: command, message) } else { appendURL(description, message) }
            if hasID { appendURLID(request) }
        case .bridge where hasID:
            append("{\"responseId\":")
            appendBridgeID(request)
            append(",\"responseData\":")
            message.write(to: self)
            if let command, ByteName(command) != ByteName(description.command) {
                append(",\"handlerName\":")
                append(json: command)
            }
            append(UInt8(ascii: "}"))
        case .bridge: appendBridge(command: command ?? description.command, message)
        }
    }

    /// The result of a call's last BCO as its final reply; `null` if there is none.
    func appendResult(of call: borrowing Call) {
        guard let message = call.results.last else {
            return appendReply(.null, to: call, under: nil, isFinal: true)
        }
        appendReply(message, to: call, under: call.results.replyCommand, isFinal: true)
    }

    /// An error as the reply to a call.
    func appendError(_ error: CommandError, to call: borrowing Call, isFinal: Bool) {
        let payload = error.payload(command: call.command)
        append(error: payload, id: isFinal ? call.request.id : nil, form: call.request.form)
    }

    /// An error for a line that could not be read as a call.
    public func appendError(_ error: CommandError, command: String?, id: String?, form: WireForm) {
        append(error: error.payload(command: command?.shortened), id: id, form: form)
    }

    private func append(error payload: JSONValue, id: String?, form: WireForm) {
        switch form {
        case .url:
            appendURL(command: CommandError.replyCommand, .value(payload))
            if let id {
                append("&id=")
                appendPercentEncoded(id)
            }
        case .bridge:
            append(UInt8(ascii: "{"))
            if let id {
                append("\"responseId\":")
                append(json: id)
                append(UInt8(ascii: ","))
            }
            append("\"error\":")
            payload.write(to: self)
            append(UInt8(ascii: "}"))
        }
        append(UInt8(ascii: "\n"))
    }

    // MARK: Events and calls to handlers

    /// Writes an event as a line, in the form of the subscription.
    public func append(_ event: Event, form: WireForm) {
        switch form {
        case .url: appendURL(command: event.name, event.message)
        case .bridge: appendBridge(command: event.name, event.message)
        }
        append(UInt8(ascii: "\n"))
    }

    /// A call to a client's handler. Always in the bridge form.
    /// - Parameter number: the number of the call, which the answer has in its `responseId`.
    func appendCall(of handler: String, _ call: borrowing Call, in phase: Phase, number: Int) {
        append("{\"handlerName\":")
        append(json: handler)
        append(",\"data\":")
        call.borrowedRequest { $0.writeData(to: self) }
        append(",\"callbackId\":\"q")
        append(decimal: Int64(number))
        append("\",\"command\":")
        append(json: call.command)
        append(",\"phase\":")
        append(json: phase.rawValue)
        append(",\"results\":")
        call.results.write(to: self)
        append(",\"caller\":")
        call.caller.writeIdentity(to: self)
        if let error = call.error {
            append(",\"error\":")
            error.payload(command: call.command).write(to: self)
        }
        append("}\n")
    }

    /// Tells a client that nobody waits for its answer to that call any more, in the form in which a client cancels a
    /// call.
    func appendCancel(ofCall number: Int) {
        append("{\"handlerName\":\"cancel\",\"data\":[\"q")
        append(decimal: Int64(number))
        append("\"]}\n")
    }

    // MARK: The two forms

    private func appendURL(command: String, _ message: Message) {
        append("handleJSONRequest?cmd=")
        appendPercentEncoded(command)
        append("&msg=")
        appendURL(message)
    }

    @inline(__always)
    private func appendURL(_ call: CommandDescription, _ message: Message) {
        call.writeReplyStart(to: self)
        appendURL(message)
    }

    @inline(__always)
    private func appendURL(_ message: Message) {
        switch message {
        case .text(let text): append(text, as: .percent)
        // Values without anything to encode.
        case .value(.null): append("null")
        case .value(.integer(let number)): append(decimal: number)
        case .value(let value):
            let json = OutputBuffer(capacity: 256)
            value.write(to: json)
            json.withBytes { appendPercentEncoded($0) }
        }
    }

    private func appendBridge(command: String, _ message: Message) {
        append("{\"handlerName\":")
        append(json: command)
        append(",\"data\":")
        message.write(to: self)
        append(UInt8(ascii: "}"))
    }

    @inline(__always)
    private func appendURLID(_ request: Request) {
        append("&id=")
        if request.idIsPlain { append(request.idBytes) } else { appendPercentEncoded(request.idBytes) }
    }

    private func appendBridgeID(_ request: Request) {
        if request.idIsPlain {
            append(UInt8(ascii: "\""))
            append(request.idBytes)
            append(UInt8(ascii: "\""))
        } else {
            append(json: request.idBytes)
        }
    }
}

extension String {
    /// A name that a caller made up, shortened for messages.
    public var shortened: String {
        guard utf8.count > 128 else { return self }
        return String(decoding: utf8.prefix(40), as: UTF8.self) + "…"
    }
}
