internal import JavaScriptCore

/// The state after a turn.
struct ScriptState: OptionSet {
    let rawValue: UInt8

    /// Messages of the daemon that the script has not seen.
    static let hasMessages = ScriptState(rawValue: 1)
    /// The daemon has refused a handler, and nothing in the script has heard of it.
    static let lacksHandler = ScriptState(rawValue: 2)
    /// Something to wait for, which keeps the script alive.
    static let isWaiting = ScriptState(rawValue: 4)
    /// Calls without a reply.
    static let hasCalls = ScriptState(rawValue: 8)
    /// Something to do at the end of a turn.
    static let isUnsettled = ScriptState(rawValue: 16)
    static let hasHandlers = ScriptState(rawValue: 32)
}

/// The JavaScript engine with the script's environment, whose JavaScript is in `Runtime/`.
final class ScriptRuntime {
    let machine: JSVirtualMachine
    let context: JSContext
    let host: JSValue
    private let deliverFunction: JSValue
    private let fireFunction: JSValue
    private let turnEndedFunction: JSValue
    private let collectFunction: JSValue

    /// In the order in which they depend on each other.
    private static let files: [(name: String, bytes: [UInt8])] = [
        ("errors", PackageResources.errors_js), ("console", PackageResources.console_js),
        ("timers", PackageResources.timers_js), ("frontController", PackageResources.frontController_js),
        ("calls", PackageResources.calls_js), ("bridge", PackageResources.bridge_js),
        ("words", PackageResources.words_js), ("page", PackageResources.page_js), ("start", PackageResources.start_js),
    ]

    init(
        _ source: ScriptSource,
        _ natives: ScriptRunner
    ) throws(JSError) {
        machine = JSVirtualMachine()
        context = JSContext(virtualMachine: machine)
        context.name = source.name
        host = JSValue(newObjectIn: context)
        host["script"] = JSValue(object: ["name": source.name, "arguments": source.arguments], in: context)
        let functions = Self.functions(natives, context)
        for file in Self.files {
            let text = String(decoding: file.bytes, as: UTF8.self)
            try context.evaluate(text, sourceURL: "quickconnect:\(file.name).js").call([host, functions])
        }
        deliverFunction = host["deliver"]
        fireFunction = host["fire"]
        turnEndedFunction = host["turnEnded"]
        collectFunction = host["collect"]
        context.unhandledRejectionHandler = { [weak natives] _, promise, reason in
            if let promise, let reason { natives?.rejected(promise, reason) }
        }
    }

    private static func functions(_ natives: ScriptRunner, _ context: JSContext) -> JSValue {
        let object: JSValue = JSValue(newObjectIn: context)
        object.setObject({ [unowned natives] (lines: JSText) in natives.flush(lines.utf8) }, forKeyedSubscript: "flush")
        object.setObject(
            { [unowned natives] (id: String, command: String, lines: JSText) in
                natives.callSync(id: id, command: command, sending: lines.utf8)
            },
            forKeyedSubscript: "callSync"
        )
        object.setObject(
            { [unowned natives] (id: String, handler: String) in natives.began(id, handler: handler) },
            forKeyedSubscript: "began"
        )
        object.setObject({ [unowned natives] (id: String) in natives.ended(id) }, forKeyedSubscript: "ended")
        object.setObject(
            { [unowned natives] (answer: JSText) in natives.problem(ofAnswer: answer.utf8) },
            forKeyedSubscript: "answerProblem"
        )
        object.setObject({ [unowned natives] in natives.released() }, forKeyedSubscript: "released")
        object.setObject(
            { [unowned natives] (handler: String, message: String, error: String) in
                natives.note(handler, message, error)
            },
            forKeyedSubscript: "note"
        )
        object.setObject(
            { [unowned natives] (id: Int, milliseconds: Double, repeats: Bool) in
                natives.startTimer(id, milliseconds, repeats)
            },
            forKeyedSubscript: "startTimer"
        )
        object.setObject({ [unowned natives] (id: Int) in natives.stopTimer(id) }, forKeyedSubscript: "stopTimer")
        object.setObject(
            { [unowned natives] (level: String, text: String) in natives.write(level, text) },
            forKeyedSubscript: "print"
        )
        object.setObject({ [unowned natives] (text: String) in natives.warn(text) }, forKeyedSubscript: "warn")
        object.setObject(
            { [unowned natives, unowned context] (name: String) in
                try context.evaluate(try natives.loadText(name), sourceURL: name)
            },
            forKeyedSubscript: "load"
        )
        return object
    }

    /// Runs a script's text. If it has an `await` outside of functions, it runs as the body of an async function, which is
    /// not called from the text: no error has a place behind its end.
    func run(_ text: String, sourceURL: String) throws(JSError) {
        guard isBody(text) else {
            try context.evaluate(text, sourceURL: sourceURL)
            return
        }
        try context.evaluate(Self.function(text), sourceURL: sourceURL).call([])
    }

    private func isBody(_ text: String) -> Bool {
        text.contains("await") && context.firstMistake(in: text) != nil
            && context.firstMistake(in: Self.function(text)) == nil
    }

    /// The lines keep their numbers.
    private static func function(_ text: String) -> String { "(async () => {\(text)\n})" }

    // MARK: Called between turns, each a turn of its own

    /// Passes messages of the daemon, a JSON array, to the script. While some are left it must be called again, without
    /// messages.
    func deliver(_ messages: [UInt8]) throws(JSError) { try deliverFunction.callAsFunction(JSText(utf8: messages)) }

    func fire(_ timer: Int) throws(JSError) { try fireFunction.callAsFunction(timer) }

    func turnEnded() throws(JSError) { try turnEndedFunction.callAsFunction() }

    func lost() throws(JSError) { try host["lost"].call([]) }

    /// Removes what the script has registered.
    func finish(isConnected: Bool) throws(JSError) { try host["finish"].callAsFunction(isConnected) }

    // MARK: Questions, which run nothing of the script's

    /// The state after the turns since the last call, and the lines to send.
    func collect() -> (state: ScriptState, lines: ArraySlice<UInt8>) {
        let text = (try? collectFunction.callAsFunction(returning: JSText.self).utf8) ?? []
        guard let first = text.first else { return ([], []) }
        return (ScriptState(rawValue: first &- UInt8(ascii: "0")), text.dropFirst())
    }

    /// Calls that the script has made, and calls to its handlers that it has answered.
    var counts: (calls: Int, answers: Int) {
        let counts = ["callCount", "answerCount"].map { (try? host[$0].call([]).to(Int.self)) ?? 0 }
        return (counts[0], counts[1])
    }

    /// The lines that renew handlers and subscriptions, each with its line break.
    var registrations: [UInt8] { (try? host["registrations"].callAsFunction(returning: JSText.self).utf8) ?? [] }

    /// Whether there is something to renew on a new connection.
    var isRegistered: Bool { (try? host["isRegistered"].call([]).toBool()) ?? false }

    /// Whether an unhandled promise is that of a call, which may be ignored.
    func mayIgnore(_ promise: JSValue, _ reason: JSValue) -> Bool {
        (try? host["mayIgnore"].call([promise, reason]).toBool()) ?? false
    }

    /// Passes an unhandled error to the script, and returns whether it was handled.
    func handles(_ thrown: JSValue) throws(JSError) -> Bool { try host["unhandled"].call([thrown]).toBool() }

    /// A description of something thrown that is not an error: its message, or the value as `console` writes it.
    func description(of thrown: JSValue) -> String? {
        try? host["describe"].call([thrown])["message"].to(String.self)
    }

    /// The call stack of an error, without the runtime's own functions.
    func stack(of thrown: JSValue?) -> [String] {
        guard let thrown, thrown.isObject else { return [] }
        return (try? host["stackOf"].call([thrown]).to([String].self)) ?? []
    }
}
