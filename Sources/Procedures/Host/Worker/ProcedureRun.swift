internal import JSON
internal import JavaScriptCore
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// One run of a procedure, in a fresh context, from its text to its answer.
final class ProcedureRun {
    private let machine: JSVirtualMachine
    private let folders: ProcedureFolders
    private let log: (_ level: String, _ text: String) -> Void
    /// The time, for a test; nil: now.
    private let now: Double?
    /// How deep procedures may call each other.
    private let depth: Int
    static let maximumDepth = 8

    private var answer: String?
    private var answers = 0
    private var failure: ProcedureError?
    private var texts: [String: String] = [:]

    init(
        _ machine: JSVirtualMachine,
        _ folders: ProcedureFolders,
        now: Double?,
        depth: Int = 0,
        log: @escaping (_ level: String, _ text: String) -> Void
    ) {
        self.machine = machine
        self.folders = folders
        self.now = now
        self.depth = depth
        self.log = log
    }

    /// Runs `execute` of a procedure, and returns its answer as JSON.
    func run(_ name: String, _ arguments: String) throws(ProcedureError) -> String {
        try start(name, arguments) { returned, context, helpers throws(JSError) in
            try settled(returned, name, context, helpers["follow"])
        }
    }

    /// Runs `execute` of a procedure. If there is no answer when it returns, `Answer` is made from its return value.
    private func start<Answer>(
        _ name: String,
        _ arguments: String,
        _ finish: (_ returned: JSValue, JSContext, _ helpers: JSValue) throws(JSError) -> Answer
    ) throws(ProcedureError) -> Answer {
        guard let file = folders.file(name) else { throw ProcedureError(.notFound, folders.missing(name).message) }
        guard let context = JSContext(virtualMachine: machine) else {
            throw ProcedureError(.unavailable, "there is not enough memory for one more procedure")
        }
        do throws(JSError) {
            let helpers = try prepare(context)
            let execute = try load(file, context)
            var values = try items(arguments, context)
            // Where arguments are left out, the callback is in its place all the same.
            let missing = Int(execute["length"].toInt32()) - 1 - values.count
            for _ in 0..<max(0, missing) { values.append(JSValue(undefinedIn: context) as Any) }
            let returned = try execute.call(values + [callback(name, context)])
            return try finish(returned, context, helpers)
        } catch {
            throw explain(error)
        }
    }

    /// Sets up the environment of procedures in the context.
    private func prepare(_ context: JSContext) throws(JSError) -> JSValue {
        context.setObject(context.constructor(of: ProcedureContext.self), forKeyedSubscript: "Context")
        let natives = JSValue(newObjectIn: context)
        let log = JSValue(newFunctionIn: context, name: "log") { [log] (level: String, text: String) in log(level, text)
        }
        let load = JSValue(newFunctionIn: context, name: "load") { [weak self, weak context] (name: String) in
            guard let self, let context else { return }
            let (path, text) = try self.folders.library(name)
            self.texts[path] = text
            try context.evaluate(text, sourceURL: path)
        }
        let call = JSValue(newFunctionIn: context, name: "call") {
            [weak self, weak context] (name: String, values: JSONResult) -> JSValue in
            guard let self, let context else { throw ProcedureError(.unavailable, "the call is over") }
            return try self.call(name, values.text, for: context)
        }
        let day = JSValue(newFunctionIn: context, name: "day") {
            (date: JSValue, zone: JSValue, now: Double) -> JSONResult in
            func text(_ value: JSValue) -> String? { value.isUndefined || value.isNull ? nil : value.toString() ?? "" }
            return JSONResult(text: try ProcedureDay.bounds(of: text(date), zone: text(zone), now: now).text)
        }
        natives?.setObject(day, forKeyedSubscript: "day")
        natives?.setObject(log, forKeyedSubscript: "log")
        natives?.setObject(load, forKeyedSubscript: "load")
        natives?.setObject(call, forKeyedSubscript: "call")
        let setUp = try context.evaluate(Self.runtime, sourceURL: "quickconnect:procedure.js")
        return try setUp.call([natives as Any] + (now.map { [$0] } ?? []))
    }

    private static let runtime = String(decoding: PackageResources.procedure_js, as: UTF8.self)

    private func load(_ file: ProcedureFolders.File, _ context: JSContext) throws(JSError) -> JSValue {
        let text = try file.text().mapError { JSError(message: "\(file.path) \($0.message)", in: context) }.get()
        texts[file.path] = text
        try context.evaluate(text, sourceURL: file.path)
        // Not read as a property of the global object, because `const execute` is not one.
        let execute = try context.evaluate("typeof execute === 'function' ? execute : undefined")
        guard execute.isObject else {
            throw JSError(message: "\(file.path) has no function execute", in: context)
        }
        return execute
    }

    private func items(_ arguments: String, _ context: JSContext) throws(JSError) -> [Any] {
        guard let array = JSValue(newFromJSON: arguments, in: context) else { return [] }
        return (0..<array.arrayCount).map { array.atIndex($0) as Any }
    }

    // MARK: The answer

    private func callback(_ name: String, _ context: JSContext) -> Any {
        JSValue(newFunctionIn: context, name: "callback") { [weak self] (value: JSValue) in
            guard let self else { return }
            self.answers += 1
            guard self.answers == 1 else {
                if self.answers == 2 {
                    self.log("warning", "\(name) has called its callback again: the first answer counts")
                }
                return
            }
            self.answer = try value.jsonText() ?? "null"
        }
    }

    /// The answer of a call whose callback was not called before it returned: the value of its promise, or what it
    /// returned. All pending jobs have run by then, so a promise that is still open stays open.
    private func settled(
        _ returned: JSValue,
        _ name: String,
        _ context: JSContext,
        _ follow: JSValue
    ) throws(JSError) -> String {
        if let answer { return answer }
        var thrown: JSValue?
        var value: String?
        let resolved = JSValue(newFunctionIn: context) { (result: JSValue) in
            value = result.isUndefined ? nil : try result.jsonText()
        }
        let rejected = JSValue(newFunctionIn: context) { (reason: JSValue) in thrown = reason }
        try follow.call([returned, resolved, rejected])
        if let thrown { throw JSError(thrown) }
        if let answer = answer ?? value { return answer }
        failure = Self.silence(name)
        throw JSError(message: "", in: context)
    }

    private static func silence(_ name: String) -> ProcedureError {
        ProcedureError(.timeout, "\(name) gives no answer: it calls no callback, and returns nothing")
    }

    // MARK: Procedure.call

    /// Another procedure's answer, as a value in the caller's context, or a promise of one.
    private func call(_ name: String, _ arguments: String, for caller: JSContext) throws -> JSValue {
        guard depth < Self.maximumDepth else {
            throw ProcedureError(.scriptFailed, "more than \(Self.maximumDepth) procedures call each other")
        }
        let run = ProcedureRun(machine, folders, now: now, depth: depth + 1, log: log)
        do throws(ProcedureError) {
            return try run.start(name, arguments) { returned, context, helpers throws(JSError) in
                try run.answer(name, returned, context, helpers, for: caller)
            }
        } catch {
            // The innermost error names the procedure and the position.
            guard !error.message.hasPrefix("procedure ") else { throw error }
            let place = error.place["file"]?.stringValue.map { " (\($0):\(error.place["line"]?.text ?? "?"))" } ?? ""
            throw ProcedureError(error.code, "procedure \(name): \(error.message)\(place)")
        }
    }

    private func answer(
        _ name: String,
        _ returned: JSValue,
        _ context: JSContext,
        _ helpers: JSValue,
        for caller: JSContext
    ) throws(JSError) -> JSValue {
        if let text = answer { return JSValue(newFromJSON: text, in: caller) ?? JSValue(undefinedIn: caller) }
        guard returned.isObject, returned["then"].isFunction else {
            guard !returned.isUndefined, let text = try returned.jsonText() else {
                failure = Self.silence(name)
                throw JSError(message: "", in: context)
            }
            return JSValue(newFromJSON: text, in: caller) ?? JSValue(undefinedIn: caller)
        }
        // Pending jobs run when the outermost procedure has returned; this object lives until then.
        let finish = JSValue(newFunctionIn: context) { (value: JSValue) -> JSONResult in
            if let text = self.answer { return JSONResult(text: text) }
            guard !value.isUndefined, let text = try value.jsonText() else {
                throw Self.silence(name)
            }
            return JSONResult(text: text)
        }
        return try helpers["promise"].call([returned, finish])
    }

    // MARK: Errors

    /// A JavaScript error for the caller: with its own code if it is one of the protocol's, and its position.
    private func explain(_ error: JSError) -> ProcedureError {
        if let failure { return failure }
        let error = placed(error)
        var place = JSONObject(present: [
            "file": error.file.map(JSONValue.string), "line": error.line.map { .integer(Int64($0)) },
            "column": error.column.map { .integer(Int64($0)) },
            "stack": error.stack.map { .string(String($0.prefix(Self.longest))) },
        ])
        if let file = error.file, let line = error.line { place["source"] = source(file, line) }
        let code = (try? error.value?.objectForKeyedSubscript("code")?.jsonText()).flatMap { $0 }
        let own = code.flatMap { CommandError.Code(rawValue: String($0.dropFirst().dropLast())) }
        let name = error.name.map { $0 == "Error" ? "" : "\($0): " } ?? ""
        return ProcedureError(own ?? .scriptFailed, String("\(name)\(error.message)".prefix(Self.longest)), place)
    }

    /// The most characters of a message, and of a stack.
    private static let longest = 1500

    private func source(_ file: String, _ line: Int) -> JSONValue? {
        texts[file].flatMap { Self.source(line, of: $0) }
    }

    /// A line in the form for an error.
    static func source(_ line: Int, of text: String) -> JSONValue? {
        ScriptLines.line(line, of: text).map { .string(String($0.prefix(200))) }
    }

    /// The engine reports no column for a syntax error.
    private func placed(_ error: JSError) -> JSError {
        guard error.name == "SyntaxError", error.column == nil, let file = error.file, let text = texts[file],
            let mistake = JSContext(virtualMachine: machine)?.mistake(in: text, sourceURL: file),
            mistake.line == error.line, mistake.message == error.message
        else { return error }
        var placed = error
        placed.column = mistake.column
        return placed
    }
}

extension JSError {
    /// An error of this program, in the form of a thrown one.
    init(message: String, in context: JSContext) {
        self.init(JSValue(newErrorFromMessage: message, in: context) ?? JSValue(undefinedIn: context))
    }
}

extension JSValue {
    fileprivate var arrayCount: Int { max(0, Int(self.objectForKeyedSubscript("length")?.toInt32() ?? 0)) }
}
