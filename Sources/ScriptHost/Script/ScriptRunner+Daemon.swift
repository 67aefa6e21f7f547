import Concurrency
import Configuration
internal import JSON
internal import JavaScriptCore
internal import QuickConnect
internal import QuickConnectClient

/// What comes from the daemon, and what goes back.
extension ScriptRunner {
    /// Gives lines to the script, in as many turns as it takes; what it answers at once goes out in one piece.
    func deliver(_ lines: [[UInt8]]) {
        var text = messages(lines)
        calls.current = text
        repeat {
            turn { runtime throws(JSError) in answer(with: try runtime.deliver(text)) }
            text = []
        } while status == nil && runtime?.hasMessages == true
        calls.current = nil
        if status != nil, let answers = runtime?.takeAnswers() { answer(with: answers) }
    }

    /// The lines as one JSON array. A line that is no object is the daemon's refusal of the connection.
    private func messages(_ lines: [[UInt8]]) -> [UInt8] {
        var text = [UInt8(ascii: "[")]
        text.reserveCapacity(lines.reduce(2) { $0 + $1.count + 1 })
        for line in lines {
            guard line.first == UInt8(ascii: "{") else {
                write("error", "the daemon: \(String(decoding: line, as: UTF8.self))")
                continue
            }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += line
        }
        text.append(UInt8(ascii: "]"))
        return text
    }

    private func answer(with lines: [UInt8]) {
        guard !lines.isEmpty else { return }
        let count = lines.count { $0 == UInt8(ascii: "\n") }
        if lines.count <= daemonLimits.depth {
            _ = link.send(Array(lines.dropLast()))
        } else {
            for line in lines.split(separator: UInt8(ascii: "\n")) { _ = link.send(readable(Array(line))) }
        }
        answerCount += count
    }

    /// An answer, or in its place an error where the daemon would not read it.
    func readable(_ line: [UInt8]) -> [UInt8] {
        do throws(TooLarge) {
            try OutgoingLine.check(line, daemonLimits)
            return line
        } catch {
            // The id stands first, and the runtime writes it.
            let id = line.dropFirst("{\"responseId\":\"".utf8.count).prefix { $0 != UInt8(ascii: "\"") }
            let answer: JSONValue = [
                "responseId": .string(String(decoding: id, as: UTF8.self)),
                "error": ["code": "tooLarge", "message": .string("the answer of \(source.name): \(error)")],
            ]
            return Array(answer.text.utf8)
        }
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
            _ = link.send(JSONValue.object(["responseId": .string(call.id), "error": error]).text)
            note(call.handler, sentence, "")
        }
    }
}

extension ScriptRunner: DaemonLink.Owner {
    func didConnect(again: Bool) -> [String] {
        stopper.connectionIs(link.connection?.descriptor ?? -1)
        if again { console.write("info", "connected to the daemon again") }
        let lines = again ? runtime?.registrations ?? [] : []
        runtime?.sent()
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
        link.isWanted = runtime.isRegistered
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.lost() } }
        attempt { () throws(JSError) in try runtime.lost() }
    }
}
