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

    func callSync(id: String, command: String, line: String) throws -> String {
        try OutgoingLine.check(Array(line.utf8), daemonLimits)
        callCount += 1
        loaded()
        return watcher.waiting { waitForReply(id, command, line) }
    }

    private func waitForReply(_ id: String, _ command: String, _ line: String) -> String {
        let deadline = syncDeadline
        var isSent = link.send(line)
        let losses = link.lossCount
        link.isNeeded = true
        var came: [(at: ContinuousClock.Instant, line: [UInt8])] = []
        defer { backlog += came.map(\.line) }
        while true {
            do throws(SocketPaths.NoDaemon) {
                try link.advance()
            } catch {
                console.write("error", "\(error)")
                exit(3)
            }
            if isSent, link.lossCount != losses {
                return Self.error("unavailable", "the connection to the daemon was lost while \(command) was under way")
            }
            isSent = isSent || link.connection != nil
            var reply: String?
            for line in link.receive() {
                let message = Self.message(line) ?? [:]
                if message["responseId"]?.stringValue == id {
                    // What came behind it in one piece must not get lost.
                    reply = String(decoding: line, as: UTF8.self)
                } else if message["callbackId"] != nil, message["command"]?.stringValue == command {
                    refuse(message, command)
                } else {
                    came.append((.now, line))
                }
            }
            if let reply { return reply }
            let now = ContinuousClock.now
            came.removeAll { entry in
                guard now - entry.at >= Self.patience, let message = Self.message(entry.line),
                    message["callbackId"] != nil
                else { return false }
                refuse(message, command)
                return true
            }
            answerLateCalls(at: now)
            if now >= deadline { return Self.error("timeout", "\(command) was not answered in time") }
            awaitInput(came.first.map { min($0.at + Self.patience, deadline) } ?? deadline)
        }
    }

    /// The end of a wait: its own time, and before that the time of the handler's call that waits.
    private var syncDeadline: ContinuousClock.Instant {
        let own = ContinuousClock.now + .seconds(limits.syncSeconds)
        guard !calls.running.isEmpty else { return own }
        return min(own, turnBegan + .seconds(limits.handlerSeconds) - .milliseconds(100))
    }

    private func awaitInput(_ end: ContinuousClock.Instant) {
        var descriptors = [
            link.events,
            pollfd(fd: link.isHeld ? channel?.descriptor ?? -1 : -1, events: Int16(POLLIN), revents: 0),
        ]
        let moment = min(end, link.nextTry ?? end)
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), DaemonConnection.milliseconds(until: moment))
        if descriptors[1].revents != 0, let channel { heed(channel) }
    }

    private func refuse(_ message: JSONObject, _ command: String) {
        let handler = message["handlerName"]?.stringValue ?? ""
        let sentence = "\(source.name) waits for \(command) and cannot answer \(handler) meanwhile"
        let error: JSONValue = ["code": "busy", "message": .string(sentence)]
        _ = link.send(JSONValue.object(["responseId": message["callbackId"] ?? .null, "error": error]).text)
    }

    private static func message(_ line: [UInt8]) -> JSONObject? {
        (try? JSONParser.parse(String(decoding: line, as: UTF8.self)))?.objectValue
    }

    private static func error(_ code: String, _ message: String) -> String {
        JSONValue.object(["error": ["code": .string(code), "message": .string(message)]]).text
    }
}
