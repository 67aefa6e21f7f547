import Configuration
internal import Glibc
internal import JSON
internal import QuickConnectClient
internal import Synchronization

/// Ends a script's process when it exceeds a limit: tells its callers, its host and the console why, and exits.
///
/// It uses `_exit`, because the thread that would return from `main` is the one that is stuck.
final class Stopper: Sendable {
    private let script: String
    private let path: String
    private let limits: ScriptLimits
    private let calls: HandlerCalls
    private let outbox: Outbox
    private let console: ScriptConsole
    private let channel: HostChannel?
    private let descriptor = Mutex<Int32>(-1)
    private let isStopping = Atomic(false)
    /// The macro that started last.
    private let macro = Mutex<String?>(nil)

    init(
        script: String,
        path: String,
        _ limits: ScriptLimits,
        _ calls: HandlerCalls,
        _ outbox: Outbox,
        _ console: ScriptConsole,
        _ channel: HostChannel?
    ) {
        self.script = script
        self.path = path
        self.limits = limits
        self.calls = calls
        self.outbox = outbox
        self.console = console
        self.channel = channel
    }

    /// Sets the connection for the last messages; -1: none.
    func connectionIs(_ descriptor: Int32) { self.descriptor.withLock { $0 = descriptor } }

    /// A macro begins to run.
    func runs(_ macro: String) { self.macro.withLock { $0 = macro } }

    /// Never returns. Called on any thread; a second caller waits for the end.
    /// - Parameter backtrace: the call stack, innermost first (`name() at file:line`), if known.
    func stop(_ limit: Limit, backtrace: [String] = []) -> Never {
        if isStopping.exchange(true, ordering: .acquiringAndReleasing) {
            while true { pause() }
        }
        let sentence = "stopped: \(limit.sentence(limits)) (\(limit.name))"
        let ran = backtrace.filter { !$0.contains("quickconnect:") && !$0.contains("[native code]") }
        let place = Self.place(ran.first)
        reportCallers(limit, "the script \(script) was \(sentence)", place)
        var report = ScriptReport()
        report.error = "\(place?.text ?? path): error: \(sentence)"
        report.limit = limit.name
        report.place = told(place, ran)
        channel?.report(report)
        let stack = ran.map { "\n    at \($0)" }.joined()
        console.write("error", "\(report.error ?? "")\(stack)")
        _exit(1)
    }

    private func told(_ place: (file: String, line: Int, text: String)?, _ ran: [String]) -> JSONObject? {
        guard let macro = macro.withLock({ $0 }) else { return nil }
        guard let place else { return ["macro": .string(macro)] }
        return [
            "macro": .string(macro), "file": .string(place.file), "line": .integer(Int64(place.line)),
            "stack": .string(ran.prefix(20).joined(separator: "\n")),
        ]
    }

    private func reportCallers(_ limit: Limit, _ message: String, _ place: (file: String, line: Int, text: String)?) {
        var told: Set<String> = []
        for call in calls.take() + calls.running where told.insert(call.id).inserted {
            var error: JSONObject = [
                "code": limit.isTime ? "timeout" : "scriptFailed", "message": .string(message),
            ]
            error["file"] = .string(place?.file ?? path)
            error["macro"] = macro.withLock { $0.map(JSONValue.string) }
            if let place { error["line"] = .integer(Int64(place.line)) }
            let answer: JSONValue = ["responseId": .string(call.id), "error": .object(error)]
            outbox.append("\(answer.text)\n".utf8)
        }
        let socket = descriptor.withLock { $0 }
        if socket >= 0 { outbox.sendLastWords(to: socket, within: 500) }
    }

    /// The position in a line `name() at file:line`.
    private static func place(_ frame: String?) -> (file: String, line: Int, text: String)? {
        guard let frame, let at = frame.range(ofLast: " at "), let colon = frame.lastIndex(of: ":"),
            colon > at.upperBound, let line = Int(frame[frame.index(after: colon)...])
        else { return nil }
        let file = String(frame[at.upperBound..<colon])
        return (file, line, "\(file):\(line)")
    }
}

extension Limit {
    /// Whether a caller gets `timeout` instead of `scriptFailed`.
    fileprivate var isTime: Bool {
        switch self {
        case .handlerTime, .blocked: true
        case .cpuTime, .memory, .share: false
        }
    }
}

extension String {
    fileprivate func range(ofLast text: String) -> Range<String.Index>? {
        ranges(of: text).last
    }
}
