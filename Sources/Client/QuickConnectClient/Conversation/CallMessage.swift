public import JSON
internal import QuickConnect

/// What a call carries: the `message` of `makeCall(command, message)`.
public enum CallMessage: Sendable, Hashable {
    /// No parameters.
    case none
    /// An array holds the parameters, any other value is one parameter, `null` means none.
    case value(JSONValue)
    /// The text of `msg` in the URL form: JSON, or else one string.
    case text(String)
    /// JSON that is checked, and has no line breaks: it is sent as it is, without being parsed.
    case json(String)

    /// The same as a value.
    private var value: JSONValue? {
        switch self {
        case .none: nil
        case .value(let value): value
        case .text(""), .text("undefined"): nil
        case .text(let text), .json(let text): (try? JSONParser.parse(text)) ?? .string(text)
        }
    }

    /// The line of a call, with its line break.
    func line(of command: String, id: String, form: WireForm) -> [UInt8] {
        let buffer = OutputBuffer(capacity: 256)
        switch form {
        case .url: writeURL(command, id, to: buffer)
        case .bridge: writeBridge(command, id, to: buffer)
        }
        buffer.append(UInt8(ascii: "\n"))
        return buffer.flattened()
    }

    private func writeURL(_ command: String, _ id: String, to buffer: OutputBuffer) {
        buffer.append("call?cmd=\(PercentEncoding.encode(command))&id=\(id)")
        switch self {
        case .none: break
        case .value(let value): buffer.append("&msg=\(PercentEncoding.encode(value.text))")
        case .text(let text), .json(let text): buffer.append("&msg=\(PercentEncoding.encode(text))")
        }
    }

    private func writeBridge(_ command: String, _ id: String, to buffer: OutputBuffer) {
        buffer.append("{\"handlerName\":")
        buffer.append(json: command)
        if case .json(let text) = self {
            buffer.append(",\"data\":")
            buffer.append(text)
        } else if let value {
            buffer.append(",\"data\":")
            value.write(to: buffer)
        }
        buffer.append(",\"callbackId\":\"\(id)\"}")
    }
}
