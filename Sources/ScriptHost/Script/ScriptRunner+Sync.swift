import Configuration
internal import Glibc
internal import JSON
internal import QuickConnect
internal import QuickConnectClient

/// `makeCallSync`: the script's thread waits for a reply, and takes in what else comes meanwhile.
extension ScriptRunner {
    /// How long a call to a handler of this script waits for the end of a `makeCallSync`: what the script waits for
    /// may need that very handler.
    private static let patience = Duration.milliseconds(500)

    /// Waits until one of the script's calls is answered, and answers how many are; -1 where it is too late.
    func awaitReplies(for command: String, sending lines: [UInt8]) -> Int {
        let wait = began(waitingFor: command)
        link.send(lines)
        var count = 0
        let end = watcher.waiting {
            waitForReply(wait) { message, _ in
                if message["responseId"]?.stringValue?.hasPrefix("c") == true { count += 1 }
                return false
            } until: {
                count > 0
            }
        }
        return end == .timeout || end == .noDaemon ? -1 : count
    }

    /// Makes a call and answers the line of its reply, or `{"error": …}`.
    func callSync(id: String, command: String, sending lines: [UInt8], then line: [UInt8]) -> String {
        let wait = began(waitingFor: command)
        syncWait = nil
        guard ContinuousClock.now < wait.deadline else { return Self.late(command) }
        do throws(TooLarge) {
            link.send(lines)
            try OutgoingLine.check(line, daemonLimits)
        } catch {
            return Self.error("tooLarge", error.description)
        }
        link.send(line + [UInt8(ascii: "\n")])
        var reply: String?
        let end = watcher.waiting {
            waitForReply(wait) { message, line in
                guard message["responseId"]?.stringValue == id else { return false }
                reply = String(decoding: line, as: UTF8.self)
                return true
            } until: {
                reply != nil
            }
        }
        switch end {
        case .done: return reply ?? Self.late(command)
        case .timeout: return Self.late(command)
        case .lost, .noDaemon:
            return Self.error("unavailable", "the connection to the daemon was lost while \(command) was under way")
        }
    }

    private static func late(_ command: String) -> String { error("timeout", "\(command) was not answered in time") }

    /// A `makeCallSync` under way.
    struct SyncWait {
        let command: String
        let deadline: ContinuousClock.Instant
    }

    /// How a wait ended.
    private enum WaitEnd {
        case done, timeout, lost, noDaemon
    }

    private func began(waitingFor command: String) -> SyncWait {
        if let syncWait { return syncWait }
        loaded()
        link.isNeeded = true
        let wait = SyncWait(command: command, deadline: syncDeadline)
        syncWait = wait
        return wait
    }

    /// - Parameters:
    ///   - take: looks at each message, and says whether it is done with; the others are the script's, later.
    ///   - isDone: whether what was waited for is there.
    private func waitForReply(
        _ wait: SyncWait,
        take: (JSONObject, ArraySlice<UInt8>) -> Bool,
        until isDone: () -> Bool
    ) -> WaitEnd {
        var wasConnected = link.connection != nil
        let losses = link.lossCount
        var came: [(at: ContinuousClock.Instant, line: ArraySlice<UInt8>)] = []
        defer { for entry in came { backlog += entry.line + [UInt8(ascii: "\n")] } }
        while true {
            do throws(SocketPaths.NoDaemon) {
                try link.advance()
            } catch {
                end(withoutDaemon: error)
                return .noDaemon
            }
            if wasConnected, link.lossCount != losses {
                // Nobody waits for an answer over another connection.
                came.removeAll { Self.message($0.line)?["callbackId"] != nil }
                return .lost
            }
            wasConnected = wasConnected || link.connection != nil
            // What came behind the reply in one piece must not get lost.
            for line in link.receive().split(separator: UInt8(ascii: "\n")) {
                let message = Self.message(line) ?? [:]
                if message["callbackId"] != nil, message["command"]?.stringValue == wait.command {
                    refuse(message, wait.command)
                } else if !take(message, line) {
                    came.append((.now, line))
                }
            }
            if isDone() { return .done }
            let now = ContinuousClock.now
            came.removeAll { refuseIfLate($0, wait.command, now) }
            answerLateCalls(at: now)
            if now >= wait.deadline { return .timeout }
            awaitInput(came.first.map { min($0.at + Self.patience, wait.deadline) } ?? wait.deadline)
        }
    }

    private func refuseIfLate(
        _ entry: (at: ContinuousClock.Instant, line: ArraySlice<UInt8>),
        _ command: String,
        _ now: ContinuousClock.Instant
    ) -> Bool {
        guard now - entry.at >= Self.patience, let message = Self.message(entry.line), message["callbackId"] != nil
        else { return false }
        refuse(message, command)
        return true
    }

    /// The end of a wait: its own time, and before that the time of the handler's call that waits.
    private var syncDeadline: ContinuousClock.Instant {
        let own = ContinuousClock.now + .seconds(limits.syncSeconds)
        guard !calls.running.isEmpty else { return own }
        return min(own, turnBegan + .seconds(limits.handlerSeconds) - .milliseconds(100))
    }

    private func awaitInput(_ end: ContinuousClock.Instant) {
        var descriptors = [link.events, pollfd(fd: channel?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)]
        let moment = min(end, link.nextTry ?? end)
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), DaemonConnection.milliseconds(until: moment))
        if descriptors[1].revents != 0, let channel { heed(channel) }
    }

    private func refuse(_ message: JSONObject, _ command: String) {
        let handler = message["handlerName"]?.stringValue ?? ""
        let sentence = "\(source.name) waits for \(command) and cannot answer \(handler) meanwhile"
        let error: JSONValue = ["code": "busy", "message": .string(sentence)]
        link.send(JSONValue.object(["responseId": message["callbackId"] ?? .null, "error": error]).text)
    }

    private static func message(_ line: ArraySlice<UInt8>) -> JSONObject? {
        (try? JSONParser.parse(String(decoding: line, as: UTF8.self)))?.objectValue
    }

    private static func error(_ code: String, _ message: String) -> String {
        JSONValue.object(["error": ["code": .string(code), "message": .string(message)]]).text
    }
}
