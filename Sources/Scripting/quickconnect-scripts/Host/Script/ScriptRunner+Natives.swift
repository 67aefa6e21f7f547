internal import Concurrency
internal import Glibc
internal import JSON
internal import JavaScriptCore
internal import QuickConnectClient

/// The Swift functions that the runtime's JavaScript uses. Called on the script's thread, while it runs.
extension ScriptRunner {
    /// Sends lines.
    func flush(_ lines: [UInt8]) { send(lines[...]) }

    /// A call to a handler is unanswered at the end of its turn.
    func began(_ id: String, handler: String) { calls.begin(id, handler: handler) }

    /// Such a call has been answered. Returns whether somebody still waits for it.
    func ended(_ id: String) -> Bool { calls.end(id) }

    /// Why the daemon would reject an answer; empty if it would not.
    func problem(ofAnswer answer: [UInt8]) -> String { link.conversation.problem(ofLine: answer) ?? "" }

    /// A handler failed; its caller has been told.
    func note(_ handler: String, _ message: String, _ error: String) {
        let members = (try? JSONParser.parse(error))?.objectValue ?? [:]
        let place = ["file", "line", "column"].compactMap { name -> String? in
            members[name]?.stringValue ?? members[name]?.integerValue.map { "\($0)" }
        }
        let text = "\(place.isEmpty ? source.path : place.joined(separator: ":")): \(handler): \(message)"
        write("warning", text)
        report { $0.error = text }
    }

    /// The daemon has a doubt about what the script subscribes to or answers.
    func warn(_ text: String) {
        write("warning", text)
        report { $0.warning = text }
    }

    func startTimer(_ id: Int, _ milliseconds: Double, _ repeats: Bool) {
        timers.start(id, milliseconds: milliseconds, repeats: repeats)
    }

    func stopTimer(_ id: Int) { timers.stop(id) }

    func write(_ level: String, _ text: String) {
        // A script that has ended writes nothing more, even if it has not stopped yet.
        guard status == nil, meter.takes(text.utf8.count + 1) else { return }
        // A slow reader is not the script's fault.
        watcher.waiting { console.write(level, text) }
    }

    func loadText(_ name: String) throws -> String {
        let text = try source.text(of: name)
        report { $0.loadedFile = name }
        return text
    }

    /// A promise was rejected without a handler.
    func rejected(_ promise: JSValue, _ reason: JSValue) { rejections.append((promise, reason)) }

    /// The daemon no longer passes calls to the script.
    func released() {
        isReleased = true
        report { $0.isReleased = true }
    }
}
