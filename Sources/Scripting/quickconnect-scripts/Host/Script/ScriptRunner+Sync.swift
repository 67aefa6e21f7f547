import Configuration
internal import Glibc
internal import JSON
internal import QuickConnectClient

/// `makeCallSync`: the script's thread waits for a reply, and collects other messages meanwhile.
extension ScriptRunner {
    /// How long a call to a handler of this script waits for the end of a `makeCallSync`, whose own call may need that
    /// very handler.
    private static let patience = Duration.milliseconds(500)

    /// Sends lines, the last of which is a call, and returns the line of its reply, or `{"error": …}`. The call is sent
    /// after the waiting ones.
    func callSync(id: String, command: String, sending lines: [UInt8]) -> String {
        loaded()
        link.isNeeded = true
        let deadline = syncDeadline
        send(lines[...])
        let reply = watcher.waiting { waitForReply(to: id, of: command, before: deadline) }
        if let reply { return reply }
        // If it has not been sent yet, it must not be any more.
        link.conversation.withdraw(id)
        return Self.error("timeout", "\(command) was not answered in time")
    }

    /// A message that came while the script was waiting for something else.
    private struct Message {
        let line: [UInt8]
        let members: JSONObject
        let came = ContinuousClock.now

        init(_ line: UnsafeBufferPointer<UInt8>) {
            self.line = Array(line)
            members = (try? JSONParser.parse(line.span))?.objectValue ?? [:]
        }

        var isCall: Bool { members["callbackId"] != nil }
    }

    /// Nil if it is too late.
    private func waitForReply(to id: String, of command: String, before deadline: ContinuousClock.Instant) -> String? {
        var waiting: [Message] = []
        // Messages in the same piece as the reply must not be lost.
        defer { for message in waiting { backlog.put(message.line) } }
        while true {
            do throws(SocketPaths.NoDaemon) {
                try link.advance()
            } catch {
                end(withoutDaemon: error)
                return Self.lost(command)
            }
            let connections = link.conversation.connectionCount
            var reply: String?
            var came: [Message] = []
            link.receive { came.append(Message($0)) }
            // Answers cannot be sent over another connection.
            if !link.conversation.isConnected, connections > 0 { waiting.removeAll(where: \.isCall) }
            for message in came {
                if message.members["responseId"]?.stringValue == id {
                    reply = String(decoding: message.line, as: UTF8.self)
                } else if message.isCall, message.members["command"]?.stringValue == command {
                    refuse(message, command)
                } else {
                    waiting.append(message)
                }
            }
            if let failure = takeFailure(of: id) { reply = Self.error(failure, command) }
            if let reply { return reply }
            let now = ContinuousClock.now
            refuseLate(&waiting, command, now)
            answerLateCalls(at: now)
            if now >= deadline { return nil }
            awaitInput(waiting.first.map { min($0.came + Self.patience, deadline) } ?? deadline)
        }
    }

    /// Refuses calls that have waited too long for the end of this wait.
    private func refuseLate(_ waiting: inout [Message], _ command: String, _ now: ContinuousClock.Instant) {
        waiting.removeAll { message in
            guard message.isCall, now - message.came >= Self.patience else { return false }
            refuse(message, command)
            return true
        }
    }

    /// The failure of this call, if it failed without a reply. The script is told of other failures later.
    private func takeFailure(of id: String) -> CallFailure? {
        guard link.conversation.hasEvents else { return nil }
        return link.conversation.takeFailure(of: id)
    }

    /// The deadline of a wait: its own, or an earlier one of the handler's call that is waiting.
    private var syncDeadline: ContinuousClock.Instant {
        let own = ContinuousClock.now + .seconds(limits.syncSeconds)
        guard !calls.running.isEmpty else { return own }
        return min(own, turnBegan + .seconds(limits.handlerSeconds) - .milliseconds(100))
    }

    private func awaitInput(_ end: ContinuousClock.Instant) {
        var descriptors = [link.events, pollfd(fd: channel?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)]
        let moment = min(end, link.nextMoment ?? end)
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), DaemonConnection.milliseconds(until: moment))
        if descriptors[1].revents != 0, let channel { handle(channel) }
    }

    private func refuse(_ message: Message, _ command: String) {
        let handler = message.members["handlerName"]?.stringValue ?? ""
        let sentence = "\(source.name) waits for \(command) and cannot answer \(handler) meanwhile"
        let error: JSONValue = ["code": "busy", "message": .string(sentence)]
        send(["responseId": message.members["callbackId"] ?? .null, "error": error])
    }

    private static func error(_ failure: CallFailure, _ command: String) -> String {
        if case .connectionLost = failure { return lost(command) }
        return error(failure.code, failure.message)
    }

    private static func lost(_ command: String) -> String {
        error("unavailable", "the connection to the daemon was lost while \(command) was under way")
    }

    private static func error(_ code: String, _ message: String) -> String {
        JSONValue.object(["error": ["code": .string(code), "message": .string(message)]]).text
    }
}
