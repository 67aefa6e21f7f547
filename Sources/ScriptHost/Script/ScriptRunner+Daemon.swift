import Concurrency
import Configuration
internal import Glibc
import JSON
internal import JavaScriptCore
internal import QuickConnect
internal import QuickConnectClient

/// What comes from the daemon, and what goes back.
extension ScriptRunner {
    /// Gives lines to the script, as many as one turn may take; the rest waits in there for the next turn.
    func deliver(_ lines: [UInt8]) {
        var messages: [UInt8] = []
        if !lines.isEmpty {
            messages = MessageList.array(of: lines) { line in
                write("error", "the daemon: \(String(decoding: line, as: UTF8.self))")
            }
            calls.current = messages
        }
        turn { runtime throws(JSError) in try runtime.deliver(messages) }
        if !state.contains(.hasMessages) { calls.current = nil }
    }

    /// Answers for handlers that let their callers wait too long without running: their answer may still come, but
    /// nobody waits for it.
    func answerLateCalls(at now: ContinuousClock.Instant) {
        guard let oldest = calls.oldest, now - oldest > .seconds(limits.handlerSeconds) else { return }
        for call in calls.take(before: now - .seconds(limits.handlerSeconds)) {
            let sentence =
                "the handler \(call.handler) of \(source.name) gave no answer within "
                + "\(Duration.seconds(limits.handlerSeconds).words) (handlerTime)"
            let error: JSONValue = ["code": "timeout", "message": .string(sentence), "file": .string(source.path)]
            link.send(JSONValue.object(["responseId": .string(call.id), "error": error]).text)
            note(call.handler, sentence, "")
        }
    }
}

extension ScriptRunner: DaemonLink.Owner {
    func didConnect(again: Bool) -> [String] {
        stopper.connectionIs(link.connection?.descriptor ?? -1)
        if again { console.write("info", "connected to the daemon again") }
        let lines = again ? runtime?.registrations ?? [] : []
        runtime?.connected()
        return lines
    }

    func didNotConnect(_ failure: SocketPaths.NoDaemon) {
        console.write("warning", "\(failure)\nwaiting for one")
    }

    func didLose(_ reason: String) {
        stopper.connectionIs(-1)
        _ = calls.take()
        console.write("warning", "the connection to the daemon is lost (\(reason)); trying again")
        guard let runtime else { return }
        link.isWanted = runtime.isRegistered && !isFinishing
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.lost() } }
        attempt { () throws(JSError) in try runtime.lost() }
    }
}
