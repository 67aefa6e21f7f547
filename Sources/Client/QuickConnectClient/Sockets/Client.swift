internal import DequeModule
public import JSON
internal import Linux
internal import QuickConnect

/// What went wrong with a call, other than an error reply.
public enum ClientFailure: Error, Sendable {
    case connectionLost(String)
    case timedOut
}

/// Makes calls over a connection, one after another, and waits for each: for a program that does one thing at a time,
/// such as `quickconnect`. It does not reconnect.
public final class Client {
    private let connection: DaemonConnection
    private var conversation = ClientConversation(form: .url, bounds: Client.bounds)
    private var output: ArraySlice<UInt8> = []
    private var events: Deque<(name: String, value: JSONValue)> = []
    /// An error of the daemon that is no reply, if nothing came after it: its reason to end the connection.
    private var told: ErrorReply?
    private var replies: [CallID: Result<JSONValue, CallFailure>] = [:]

    /// The daemon's settings are not known here, so the daemon itself reports what is too large.
    private static let bounds: ClientConversation.Bounds = {
        var bounds = ClientConversation.Bounds()
        (bounds.lineBytes, bounds.depth, bounds.waitingBytes) = (.max, .max, .max)
        return bounds
    }()

    /// A client on a connection. The connection closes when the client is released.
    public init(_ connection: DaemonConnection) {
        self.connection = connection
        conversation.connected()
    }

    /// Makes a call and waits for its final reply: its value, or the error reply.
    /// - Parameters:
    ///   - message: the text of `msg`; nil leaves it out.
    ///   - deadline: when to stop waiting, even if the daemon does not read.
    public func call(
        _ command: String,
        message: String?,
        before deadline: DaemonConnection.Deadline? = nil
    ) throws(ClientFailure) -> Result<JSONValue, ErrorReply> {
        try call(command, message.map(CallMessage.text) ?? .none, before: deadline)
    }

    /// Makes a call with a value as its message.
    public func call(
        _ command: String,
        _ message: JSONValue,
        before deadline: DaemonConnection.Deadline? = nil
    ) throws(ClientFailure) -> Result<JSONValue, ErrorReply> {
        try call(command, .value(message), before: deadline)
    }

    private func call(
        _ command: String,
        _ message: CallMessage,
        before deadline: DaemonConnection.Deadline?
    ) throws(ClientFailure) -> Result<JSONValue, ErrorReply> {
        let id = conversation.call(command, message, before: deadline)
        while true {
            takeEvents(during: id)
            switch replies.removeValue(forKey: id) {
            case .success(let value): return .success(value)
            case .failure(let failure): return .failure(try Self.reply(failure))
            case nil: try step(before: deadline)
            }
        }
    }

    /// The next event, in the order of arrival.
    public func nextEvent() throws(ClientFailure) -> (name: String, value: JSONValue) {
        while true {
            takeEvents()
            if let event = events.popFirst() { return event }
            try step(before: nil)
        }
    }

    /// - Parameter id: the id of the one call that is running.
    private func takeEvents(during id: CallID? = nil) {
        for event in conversation.takeEvents() {
            told = nil
            switch event {
            case .replied(let id, _, let value): replies[id] = .success(value)
            case .failed(let id, let failure): replies[id] = .failure(failure)
            case .happened(let name, let value): events.append((name, value))
            // The daemon has not read the line, so it could not say whose it was.
            case .fault(.told(let error)):
                told = error
                if let id, error.code == CommandError.Code.tooLarge.rawValue { replies[id] = .failure(.refused(error)) }
            case .called, .cancelled, .stands, .refused, .fault: break
            }
        }
    }

    /// The error reply, or this program's equivalent; throws whatever ends the connection.
    private static func reply(_ failure: CallFailure) throws(ClientFailure) -> ErrorReply {
        switch failure {
        case .refused(let error): return error
        case .connectionLost(let reason): throw .connectionLost(reason)
        case .timedOut: throw .timedOut
        case .cancelled, .overloaded, .tooLarge, .unreadable:
            return ErrorReply(["code": .string(failure.code), "message": .string(failure.message)])
        }
    }

    /// Sends and receives what is possible now, or waits until something is.
    private func step(before deadline: DaemonConnection.Deadline?) throws(ClientFailure) {
        if output.isEmpty { output = conversation.takeOutput()[...] }
        let isOpen: Bool
        do throws(SystemCallError) {
            if !output.isEmpty { output = output.dropFirst(try connection.sendSome(output)) }
            if try connection.wait(for: output.isEmpty ? .input : .inputOrOutput, before: deadline) {
                isOpen = try connection.receiveSome { conversation.receive($0) }
            } else {
                isOpen = true
                conversation.advance(to: .now)
            }
        } catch {
            // What it has said before it closed the connection is still there.
            _ = try? connection.receiveSome { conversation.receive($0) }
            takeEvents()
            throw .connectionLost(told?.message ?? "\(error)")
        }
        guard isOpen else {
            takeEvents()
            throw .connectionLost(told?.message ?? "the daemon closed the connection")
        }
    }
}
