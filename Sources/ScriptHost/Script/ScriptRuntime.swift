import Configuration
internal import JavaScriptCore
internal import QuickConnect

/// What the runtime's JavaScript asks of Swift. Called on the script's thread, while it runs.
protocol ScriptNatives: AnyObject {
    /// Sends a line, and says whether it is on its way.
    /// Throws where the daemon would not read it.
    func send(_ line: [UInt8], isCall: Bool, isNeeded: Bool) throws -> Bool
    /// Sends a call, and answers the line of its reply, or `{"error": …}`.
    func callSync(id: String, command: String, line: String) throws -> String
    func began(_ id: String, handler: String)
    func answer(_ id: String, _ line: [UInt8])
    /// A handler failed; its caller is told.
    func note(_ handler: String, _ message: String, _ error: String)
    func startTimer(_ id: Int, _ milliseconds: Double, _ repeats: Bool)
    func stopTimer(_ id: Int)
    func write(_ level: String, _ text: String)
    func loadText(_ name: String) throws -> String
    /// A promise was rejected, and nobody handles it.
    func rejected(_ promise: JSValue, _ reason: JSValue)
}

/// The JavaScript engine with what scripts find there. The JavaScript of it lies in `Runtime/`.
final class ScriptRuntime {
    let machine: JSVirtualMachine
    let context: JSContext
    private let host: JSValue
    private let deliverFunction: JSValue
    private let fireFunction: JSValue
    private let isWaitingFunction: JSValue
    private let hasMessagesFunction: JSValue

    /// In the order they build on each other.
    private static let files: [(name: String, bytes: [UInt8])] = [
        ("errors", PackageResources.errors_js), ("console", PackageResources.console_js),
        ("timers", PackageResources.timers_js), ("frontController", PackageResources.frontController_js),
        ("calls", PackageResources.calls_js), ("bridge", PackageResources.bridge_js),
        ("page", PackageResources.page_js), ("start", PackageResources.start_js),
    ]

    init(_ source: ScriptSource, _ limits: ScriptLimits, _ natives: any ScriptNatives) throws(JSError) {
        machine = JSVirtualMachine()
        context = JSContext(virtualMachine: machine)
        context.name = source.name
        host = JSValue(newObjectIn: context)
        host["script"] = JSValue(object: ["name": source.name, "arguments": source.arguments], in: context)
        host["limits"] = JSValue(object: ["calls": limits.calls], in: context)
        let functions = Self.functions(natives, context)
        for file in Self.files {
            let text = String(decoding: file.bytes, as: UTF8.self)
            try context.evaluate(text, sourceURL: "quickconnect:\(file.name).js").call([host, functions])
        }
        deliverFunction = host["deliver"]
        fireFunction = host["fire"]
        isWaitingFunction = host["isWaiting"]
        hasMessagesFunction = host["hasMessages"]
        context.unhandledRejectionHandler = { [weak natives] _, promise, reason in
            if let promise, let reason { natives?.rejected(promise, reason) }
        }
    }

    private static func functions(_ natives: any ScriptNatives, _ context: JSContext) -> JSValue {
        let object: JSValue = JSValue(newObjectIn: context)
        object.setObject(
            { [unowned natives] (line: JSText, isCall: Bool, isNeeded: Bool) in
                try natives.send(line.utf8, isCall: isCall, isNeeded: isNeeded)
            },
            forKeyedSubscript: "send"
        )
        object.setObject(
            { [unowned natives] (id: String, command: String, line: String) in
                try natives.callSync(id: id, command: command, line: line)
            },
            forKeyedSubscript: "callSync"
        )
        object.setObject(
            { [unowned natives] (id: String, handler: String) in natives.began(id, handler: handler) },
            forKeyedSubscript: "began"
        )
        object.setObject(
            { [unowned natives] (id: String, line: JSText) in natives.answer(id, line.utf8) },
            forKeyedSubscript: "answer"
        )
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
        object.setObject(
            { [unowned natives, unowned context] (name: String) in
                try context.evaluate(try natives.loadText(name), sourceURL: name)
            },
            forKeyedSubscript: "load"
        )
        return object
    }

    // MARK: Called between turns, each a turn of its own

    /// Gives messages of the daemon to the script, a JSON array, and answers the lines that answer them at once. As
    /// long as ``hasMessages`` says so it is to be called again, with none.
    func deliver(_ messages: [UInt8]) throws(JSError) -> [UInt8] {
        do {
            return try deliverFunction.callAsFunction(JSText(utf8: messages), returning: JSText.self).utf8
        } catch let error as JSError {
            throw error
        } catch {
            return []
        }
    }

    func fire(_ timer: Int) throws(JSError) { try fireFunction.callAsFunction(timer) }

    func turnEnded() throws(JSError) { try host["turnEnded"].call([]) }

    func lost() throws(JSError) { try host["lost"].call([]) }

    // MARK: Questions, which run nothing of the script's

    /// Whether there is something left to wait for.
    var isWaiting: Bool { (try? isWaitingFunction.callAsFunction().toBool()) ?? false }

    /// The lines that tell a daemon of handlers and subscriptions again.
    var registrations: [String] { (try? host["registrations"].call([]).to([String].self)) ?? [] }

    /// The answers that the script has given in a turn that failed.
    func takeAnswers() -> [UInt8] { (try? host["takeAnswers"].callAsFunction(returning: JSText.self).utf8) ?? [] }

    /// Whether messages are left that the script has not seen, or answers that are not sent.
    var hasMessages: Bool { (try? hasMessagesFunction.callAsFunction().toBool()) ?? false }

    /// Whether a daemon must be told of something when there is a new connection.
    var isRegistered: Bool { (try? host["isRegistered"].call([]).toBool()) ?? false }

    /// All that waits to be sent is on its way.
    func sent() { _ = try? host["sent"].call([]) }

    /// Whether a promise that nobody handles is that of a call, which may be ignored.
    func mayIgnore(_ promise: JSValue, _ reason: JSValue) -> Bool {
        (try? host["mayIgnore"].call([promise, reason]).toBool()) ?? false
    }

    /// Gives the script an error that nobody handles, and says whether it took it.
    func handles(_ thrown: JSValue) throws(JSError) -> Bool { try host["unhandled"].call([thrown]).toBool() }

    /// The calls that led to an error, without the runtime's own.
    func stack(of thrown: JSValue?) -> [String] {
        guard let thrown, thrown.isObject else { return [] }
        return (try? host["stackOf"].call([thrown]).to([String].self)) ?? []
    }
}
