internal import JSON
import QuickConnect

/// A parsed line of the daemon.
enum DaemonMessage {
    /// The final reply of a call: the command of the reply, if the line has one, and its value.
    case reply(id: String, Result<(command: String?, value: JSONValue), CallFailure>)
    case event(name: String, JSONValue)
    case call(HandlerCall)
    /// An error that belongs to no call.
    case error(ErrorReply)
    case unreadable(String)

    /// A value is nested in a message, and that in a line, so a line may be deeper than what the daemon accepts.
    private static let depth = 2 * JSONParser.defaultDepth

    init(_ line: UnsafeBufferPointer<UInt8>) {
        self = line.first == UInt8(ascii: "{") ? Self.bridge(line) : Self.url(line)
    }

    private static func url(_ line: UnsafeBufferPointer<UInt8>) -> DaemonMessage {
        guard let reply = URLReply(Array(line)) else {
            return .unreadable("«\(String(decoding: line.prefix(200), as: UTF8.self))» is not a message of the daemon")
        }
        let isError = reply.command == CommandError.replyCommand
        guard let id = reply.id else {
            return isError ? .error(ErrorReply(reply.value)) : .event(name: reply.command, reply.value)
        }
        if isError { return .reply(id: id, .failure(.refused(ErrorReply(reply.value)))) }
        return .reply(id: id, .success((reply.command, reply.value)))
    }

    private static func bridge(_ line: UnsafeBufferPointer<UInt8>) -> DaemonMessage {
        do throws(JSONError) {
            guard let members = try JSONParser.parse(line.span, maximumDepth: depth).objectValue else {
                return .unreadable("a line of the daemon is not an object")
            }
            return message(members)
        } catch {
            let problem = "a line of the daemon is not JSON: \(error.message)"
            guard let id = CallID(atStartOf: line) else { return .unreadable(problem) }
            return .reply(id: id.text, .failure(.unreadable(problem)))
        }
    }

    private static func message(_ members: JSONObject) -> DaemonMessage {
        if let id = members["responseId"]?.stringValue {
            if let error = members["error"] { return .reply(id: id, .failure(.refused(ErrorReply(error)))) }
            return .reply(id: id, .success((members["handlerName"]?.stringValue, members["responseData"] ?? .null)))
        }
        if let call = HandlerCall(members) { return .call(call) }
        if let name = members["handlerName"]?.stringValue { return .event(name: name, members["data"] ?? .null) }
        if let error = members["error"] { return .error(ErrorReply(error)) }
        return .unreadable("a message of the daemon has neither 'responseId' nor 'handlerName'")
    }
}
