import Concurrency
import Configuration
internal import Glibc
import JSON
internal import JavaScriptCore
internal import QuickConnectClient

/// Messages from and to the daemon.
extension ScriptRunner {
    /// Sends lines, each with its line break. They are put into the outbox at once, where the thread that ends a script
    /// finds them.
    func send(_ lines: ArraySlice<UInt8>) {
        lines.withUnsafeBufferPointer { link.conversation.send(lines: $0) }
        link.fillOutbox()
    }

    /// Sends an answer from this program itself.
    func send(_ message: JSONObject) { send(Array("\(JSONValue.object(message).text)\n".utf8)[...]) }

    /// The most pieces that are read between two turns.
    private static let maxPieces = 16

    /// Processes what has been received, unless the script has too much to handle already.
    func receive() {
        var pieces = 0
        while pieces < Self.maxPieces, !backlog.isFull, pieces == 0 || link.connection?.mayHaveMore == true {
            var refused: [MessageList.Refused] = []
            link.receive { message in
                if let call = backlog.append(message) { refused.append(call) }
            }
            for call in refused { refuse(call) }
            pieces += 1
        }
        takeEvents()
    }

    /// A caller has its share of what waits here.
    private func refuse(_ call: MessageList.Refused) {
        let sentence = "\(source.name) has \(call.bytes >> 10) KiB of this caller's calls waiting already"
        let error: JSONValue = ["code": "overloaded", "message": .string(sentence)]
        send(["responseId": .string(call.id), "error": error])
    }

    /// Reports to the script the calls that failed without a reply.
    func takeEvents() {
        for event in link.conversation.takeEvents() {
            switch event {
            case .failed(let id, let failure): backlog.put(Self.message(id.text, failure))
            case .fault(.told(let error)): write("error", "the daemon: \(error.message)")
            case .fault(.unreadable(let problem)): write("error", "the daemon: \(problem)")
            // The script reads its messages itself, and manages its own handlers and subscriptions.
            case .replied, .happened, .called, .cancelled, .stands, .refused: break
            }
        }
    }

    /// A reply for a call that will get none.
    private static func message(_ id: String, _ failure: CallFailure) -> [UInt8] {
        let error: JSONValue = ["code": .string(failure.code), "message": .string(failure.message)]
        var message: JSONObject = ["responseId": .string(id), "error": error]
        if case .connectionLost = failure { message["lost"] = true }
        return Array(JSONValue.object(message).text.utf8)
    }

    /// Passes messages, a JSON array, to the script, as many as one turn may take; the rest waits for the next turn.
    func deliver(_ messages: [UInt8]) {
        if !messages.isEmpty { calls.current = messages }
        turn { runtime throws(JSError) in try runtime.deliver(messages) }
        if !state.contains(.hasMessages) { calls.current = nil }
    }

    /// Answers for handlers that take too long although the script is not running. The handler may still answer, but
    /// nobody waits for it.
    func answerLateCalls(at now: ContinuousClock.Instant) {
        guard let oldest = calls.oldest, now - oldest > .seconds(limits.handlerSeconds) else { return }
        for call in calls.take(before: now - .seconds(limits.handlerSeconds)) {
            let sentence =
                "the handler \(call.handler) of \(source.name) gave no answer within "
                + "\(Duration.seconds(limits.handlerSeconds).words) (handlerTime)"
            let error: JSONValue = ["code": "timeout", "message": .string(sentence), "file": .string(source.path)]
            send(["responseId": .string(call.id), "error": error])
            note(call.handler, sentence, "")
            if macros != nil { reportLate(call.handler, sentence) }
        }
    }
}

extension ScriptRunner: DaemonLink.Owner {
    func didConnect(again: Bool) -> [UInt8] {
        stopper.connectionIs(link.connection?.descriptor ?? -1)
        guard again else { return [] }
        console.write("info", "connected to the daemon again")
        return runtime?.registrations ?? []
    }

    func didNotConnect(_ failure: SocketPaths.NoDaemon) {
        console.write("warning", "\(failure.line); waiting for one")
    }

    func didLose(_ reason: String) {
        stopper.connectionIs(-1)
        _ = calls.take()
        backlog.forgetCalls()
        console.write("warning", "the connection to the daemon is lost (\(reason)); trying again")
        guard let runtime else { return }
        link.isWanted = runtime.isRegistered && !isFinishing
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.lost() } }
        attempt { () throws(JSError) in try runtime.lost() }
    }
}
