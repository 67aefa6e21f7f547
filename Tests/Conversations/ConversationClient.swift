/// One end of a connection to a daemon, wherever that runs: in this process, or behind a socket.
public protocol ConversationClient: Sendable {
    /// Sends bytes as they are. May not wait for the daemon's replies: the client reads while it sends.
    func send(_ bytes: [UInt8]) async throws
    /// The next line, without its line break; nil when the daemon has closed the connection.
    /// Throws where neither comes within the deadline.
    func nextLine(within deadline: Duration) async throws -> String?
    /// Ends the input. The client still reads.
    func endInput() async throws
    /// Closes the connection.
    func close() async
}

/// Where the daemon runs that the conversations are held with. Its clients are root, or the daemon's own user.
public protocol ConversationHost: Sendable {
    func connect() async throws -> any ConversationClient
}

/// What a daemon should have said and did not.
public struct ConversationFailure: Error, CustomStringConvertible {
    public let description: String

    public init(_ what: String, _ file: StaticString = #fileID, _ line: UInt = #line) {
        description = "\(file):\(line): \(what)"
    }
}

extension ConversationClient {
    /// Sends one line.
    func say(_ line: String) async throws { try await send(Array((line + "\n").utf8)) }

    /// Sends many lines at once.
    func say(_ lines: [String]) async throws {
        try await send(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// The next line, whatever it is.
    func hear(_ file: StaticString = #fileID, _ line: UInt = #line) async throws -> String {
        guard let text = try await nextLine(within: .seconds(30)) else {
            throw ConversationFailure("the daemon closed the connection", file, line)
        }
        return text
    }

    /// The next line is this one.
    func expect(_ expected: String, _ file: StaticString = #fileID, _ line: UInt = #line) async throws {
        let text = try await hear(file, line)
        guard text == expected else {
            throw ConversationFailure("«\(text.prefix(500))» instead of «\(expected.prefix(500))»", file, line)
        }
    }

    /// The next line holds these texts.
    func expect(holding parts: String..., file: StaticString = #fileID, line: UInt = #line) async throws {
        let text = try await hear(file, line)
        for part in parts where !text.contains(part) {
            throw ConversationFailure("«\(text.prefix(500))» does not hold «\(part)»", file, line)
        }
    }

    /// The next lines are these, in any order.
    func expect(
        inAnyOrder expected: [String],
        _ file: StaticString = #fileID,
        _ line: UInt = #line
    ) async throws {
        var heard: [String] = []
        for _ in expected { heard.append(try await hear(file, line)) }
        for (text, wanted) in zip(heard.sorted(), expected.sorted()) where text != wanted {
            throw ConversationFailure("«\(text.prefix(500))» instead of «\(wanted.prefix(500))»", file, line)
        }
    }

    /// The daemon closes the connection, and says nothing more before.
    func expectEnd(_ file: StaticString = #fileID, _ line: UInt = #line) async throws {
        if let text = try await nextLine(within: .seconds(30)) {
            throw ConversationFailure("«\(text.prefix(500))» behind the last line", file, line)
        }
    }

    /// Nothing is on its way: the next line is the reply to a call made now.
    func expectNothingMore(_ file: StaticString = #fileID, _ line: UInt = #line) async throws {
        try await say("call?cmd=ping&id=nothing-more")
        try await expect("handleJSONRequest?cmd=ping&msg=null&id=nothing-more", file, line)
    }

    /// Registers a handler.
    func register(_ name: String, _ file: StaticString = #fileID, _ line: UInt = #line) async throws {
        try await say(#"{"handlerName":"registerHandler","data":["\#(name)"],"callbackId":"register"}"#)
        try await expect(#"{"responseId":"register","responseData":null}"#, file, line)
    }

    /// Subscribes, in the bridge form, to an event.
    func subscribe(_ name: String, _ file: StaticString = #fileID, _ line: UInt = #line) async throws {
        try await say(#"{"handlerName":"subscribe","data":["\#(name)"],"callbackId":"subscribe"}"#)
        try await expect(#"{"responseId":"subscribe","responseData":null}"#, file, line)
    }
}
