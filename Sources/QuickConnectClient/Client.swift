public import JSON
internal import Linux
import QuickConnect

/// What went wrong with a call, other than an error reply.
public enum ClientFailure: Error, Sendable {
    case connectionLost(String)
    case timedOut
}

/// Makes calls over a connection, one after another, in the URL form.
public final class Client {
    private let connection: DaemonConnection
    private var count = 0

    public init(_ connection: DaemonConnection) { self.connection = connection }

    /// Makes a call in the URL form and waits for its final reply: its value, or the error reply.
    /// - Parameter message: the text of `msg`; nil leaves it out.
    public func call(
        _ command: String,
        message: String?,
        before deadline: DaemonConnection.Deadline? = nil
    ) throws(ClientFailure) -> Result<JSONValue, ErrorReply> {
        count += 1
        let id = "c\(count)"
        var line = "call?cmd=\(PercentEncoding.encode(command))&id=\(id)"
        if let message { line += "&msg=\(PercentEncoding.encode(message))" }
        try send(line, before: deadline)
        while true {
            let line = try nextLine(before: deadline)
            guard let reply = URLReply(line), reply.id == id else { continue }
            guard reply.command == CommandError.replyCommand else { return .success(reply.value) }
            return .failure(ErrorReply(reply.value))
        }
    }

    /// Makes a call with a value as its message.
    public func call(
        _ command: String,
        _ message: JSONValue,
        before deadline: DaemonConnection.Deadline? = nil
    ) throws(ClientFailure) -> Result<JSONValue, ErrorReply> {
        try call(command, message: message.text, before: deadline)
    }

    /// The next event, in the order they come; replies are passed over.
    public func nextEvent() throws(ClientFailure) -> (name: String, value: JSONValue) {
        while true {
            let line = try nextLine(before: nil)
            if let reply = URLReply(line), reply.id == nil { return (reply.command, reply.value) }
        }
    }

    private func send(_ line: String, before deadline: DaemonConnection.Deadline?) throws(ClientFailure) {
        do throws(SystemCallError) {
            try connection.send(line, before: deadline)
        } catch {
            throw error.isTimeout ? .timedOut : .connectionLost("\(error)")
        }
    }

    private func nextLine(before deadline: DaemonConnection.Deadline?) throws(ClientFailure) -> [UInt8] {
        let received: DaemonConnection.Received
        do throws(SystemCallError) {
            received = try connection.receive(before: deadline)
        } catch {
            throw .connectionLost("\(error)")
        }
        switch received {
        case .line(let line): return line
        case .timedOut: throw .timedOut
        case .closed: throw .connectionLost("the daemon closed the connection")
        }
    }
}

/// An error reply: the JSON object `{"cmd", "code", "message", …}`.
public struct ErrorReply: Error, Sendable {
    public var members: JSONObject

    init(_ value: JSONValue) { members = value.objectValue ?? [:] }

    public var code: String { members["code"]?.stringValue ?? "internal" }
    public var message: String { members["message"]?.stringValue ?? "the daemon gave no reason" }
}
