internal import Concurrency
public import JavaScriptCore
internal import Linux
internal import Synchronization

/// Macros: JavaScript functions that a user may edit while the program runs, and that call Swift.
///
/// All macros of an engine share one context: they can call each other by name, and globals survive the edit of a
/// macro.
///
/// **Threads.** Any thread may call; there is no main thread here. JavaScript of one engine runs on one thread at a
/// time, and a Swift function that it calls runs on the thread that runs the macro. While such a function runs, another
/// thread may run JavaScript of the same engine, so what it uses must be thread-safe. Edits are made one after the
/// other.
public final class MacroEngine: Sendable {
    /// The program's shared engine.
    public static let sharedInstance = MacroEngine()

    /// Where the macros run. Its `exceptionHandler` is the engine's: set ``exceptionHandler`` here.
    public let context: JSContext
    let texts = MacroTexts()
    /// Serializes edits. Recursive: setting a global may run JavaScript, which may call Swift, which may edit.
    private let edits = RecursiveLock()
    private let handler = Mutex<@Sendable (MacroError) -> Void>(MacroEngine.write)
    private let names: MacroNames?

    /// An engine separate from the shared one.
    /// - Parameters:
    ///   - context: the context in which the macros run. The engine sets its `exceptionHandler`, and its
    ///     `unhandledRejectionHandler` if it has none.
    ///   - protectsNames: whether JavaScript that assigns to the name of a macro or a block gets an error, so that one
    ///     macro cannot disable another by mistake. In the original article each may.
    public init(context: JSContext = JSContext(), protectsNames: Bool = false) {
        self.context = context
        names = protectsNames ? MacroNames(context) : nil
        setUpExceptionHandler()
    }

    private func setUpExceptionHandler() {
        context.exceptionHandler = { [weak self] _, thrown in
            if let self, let thrown { report(texts.place(JSError(thrown))) }
        }
        guard context.unhandledRejectionHandler == nil else { return }
        context.unhandledRejectionHandler = { [weak self] _, _, reason in
            if let self, let reason { report(texts.place(JSError(reason))) }
        }
    }

    // MARK: Errors

    /// Receives each mistake in the text of a macro, each error that a macro throws, and promises that are rejected
    /// without a handler, on the thread where it happens. The default writes them to standard error.
    public var exceptionHandler: @Sendable (MacroError) -> Void {
        get { handler.withLock { $0 } }
        set {
            var handler = newValue
            // What the old one captures is released outside of the lock.
            self.handler.withLock { swap(&$0, &handler) }
        }
    }

    /// An error thrown by JavaScript of this engine, with its position in the text of the macro.
    /// - Parameters:
    ///   - error: the error.
    ///   - key: the macro that ran, for an error without a position.
    ///   - javascript: the text that ran, if it may be older than the current one; the line is taken from it.
    public func macroError(_ error: JSError, key: String? = nil, javascript: String? = nil) -> MacroError {
        texts.place(error, of: key, javascript)
    }

    func report(_ error: MacroError) { exceptionHandler(error) }

    private static let write: @Sendable (MacroError) -> Void = { error in
        let text = "\(error.title): \(error)\n"
        Descriptor.write(text, to: 2)
    }

    // MARK: Objects

    /// Lets an object register what macros may use.
    public func addObject(_ object: any MacroEngineSupport) { object.addMacroSupport(self) }

    /// Lets macros call a Swift closure under a name. It replaces an object of that name.
    ///
    /// The closure's type is determined at run time: up to ten parameters of any types and a result of any type. If the
    /// closure cannot be called this way (`async`, isolated to an actor), is not a closure, or the name is not valid,
    /// the handler is told and nothing is set.
    /// - Parameters:
    ///   - block: the closure. It is called on the thread that runs the macro; what it throws is an exception there.
    ///   - key: its name in JavaScript.
    public func insertBlockAsObject<BlockType>(_ block: BlockType, key: String) {
        if let problem = Self.problem(of: BlockType.self, key) { return report(mistake(problem, key)) }
        let holder: JSValue = JSValue(newObjectIn: context)
        let before = holder[key]
        // If it cannot be called, the context's handler is told why, and nothing is set.
        holder.setObject(block, forKeyedSubscript: key)
        guard !holder[key].isEqual(to: before) else { return }
        insert(holder[key], key)
    }

    /// Closures that would crash the process are recognized by their type alone.
    private static func problem(of type: Any.Type, _ key: String) -> String? {
        if let problem = MacroKey.problem(of: key) { return problem }
        guard ClosureSignature.isBlock(type) else { return nil }
        return
            "'\(key)' cannot be a block whose type is found while the program runs, \(type): leave out @convention(block)"
    }

    /// The same for a closure whose type is known at compile time: faster, with any number of parameters. A
    /// `@convention(block)` closure is accepted, too.
    public func insertBlockAsObject<each Argument: JSConvertible, Result: JSConvertible>(
        _ block: @escaping (repeat each Argument) throws -> Result,
        key: String
    ) {
        insert(JSValue(newFunctionIn: context, name: key, block), key)
    }

    /// The same for a closure without a result.
    public func insertBlockAsObject<each Argument: JSConvertible>(
        _ block: @escaping (repeat each Argument) throws -> Void,
        key: String
    ) {
        insert(JSValue(newFunctionIn: context, name: key, block), key)
    }

    private func insert(_ function: JSValue, _ key: String) {
        reporting { () throws(MacroError) in
            try checkKey(key)
            guard function.isFunction else {
                throw mistake("'\(key)' must be a closure, but is not: \(function)", key)
            }
            try editing { () throws(MacroError) in try set(function, key) }
        }
    }

    // MARK: Macros

    /// Makes a function from a macro's text, sets it under a name, and returns it.
    ///
    /// If the text or the name has a mistake, the handler is told, and the previous function stays and is returned;
    /// `undefined` if there was none. See ``define(_:key:sourceURL:)``, which throws the mistake.
    @discardableResult
    public func setMethod(_ javascript: String, key: String) -> JSValue {
        do throws(MacroError) {
            return try define(javascript, key: key)
        } catch {
            report(error)
            return MacroKey.problem(of: key) == nil ? context[key] : undefined
        }
    }

    /// Makes a function from a macro's text, and sets the global variable `key` to it. The text is not run, and globals
    /// stay; running calls finish on the old function.
    /// - Parameters:
    ///   - javascript: the text of one function: `function() {…}` or an arrow, `async` or not; a semicolon may follow.
    ///   - key: its name.
    ///   - sourceURL: the file name in errors; nil: `key.js`.
    /// - Returns: the function.
    /// - Throws: the first mistake in the text or the name. The previous function stays.
    @discardableResult
    public func define(
        _ javascript: String,
        key: String,
        sourceURL: String? = nil
    ) throws(MacroError) -> JSValue {
        try checkKey(key)
        let text = MacroText(text: javascript, key: key, file: sourceURL ?? "\(key).js")
        let function = try MacroParser(context: context, text: text).function()
        return try editing { () throws(MacroError) in try evaluate(text, function) }
    }

    /// The same for a text that ``MacroSyntax`` has checked, possibly in another process: it is parsed only once.
    /// - Parameter functionBytes: the length of the function in the text.
    /// - Throws: also if the text has anything but semicolons and comments behind that.
    @discardableResult
    package func define(
        checked javascript: String,
        functionBytes: Int,
        key: String,
        sourceURL: String
    ) throws(MacroError) -> JSValue {
        try checkKey(key)
        let text = MacroText(text: javascript, key: key, file: sourceURL)
        guard (0...javascript.utf8.count).contains(functionBytes),
            Self.isNothing(Substring(javascript.utf8.dropFirst(functionBytes)))
        else { throw text.mistake("the text is not a function of \(functionBytes) bytes") }
        let function = Substring(javascript.utf8.prefix(functionBytes))
        return try editing { () throws(MacroError) in try evaluate(text, function) }
    }

    /// Whether a text is only semicolons, comments and spaces.
    private static func isNothing(_ text: Substring) -> Bool {
        var scanner = MacroScanner(text)
        scanner.skipTrivia(and: [";"])
        return scanner.isAtEnd
    }

    /// Checks a name and the text of a macro, and throws the first mistake. Nothing is run or set.
    public func check(_ javascript: String, key: String, sourceURL: String? = nil) throws(MacroError) {
        try checkKey(key)
        let text = MacroText(text: javascript, key: key, file: sourceURL ?? "\(key).js")
        _ = try MacroParser(context: context, text: text).function()
    }

    /// Removes a macro: other macros no longer find its name. Running calls finish on it.
    public func removeMethod(key: String) {
        editing {
            context.globalObject.deleteProperty(key)
            texts.remove(key: key)
        }
    }

    private func evaluate(_ text: MacroText, _ function: Substring) throws(MacroError) -> JSValue {
        let made: JSValue
        do throws(JSError) {
            made = try context.evaluate(text.script(of: function), sourceURL: text.file)[text.key]
        } catch {
            throw texts.place(error)
        }
        try set(made, text.key)
        texts.add(text)
        return made
    }

    // MARK: Names

    /// Sets a global variable. Throws if that fails because something that cannot be replaced has that name.
    private func set(_ function: JSValue, _ key: String) throws(MacroError) {
        if let names { names.set(function, key) } else { context[key] = function }
        guard let found = try? context.evaluate(key), found.isEqual(to: function) else {
            throw mistake("'\(key)' cannot be set: the name already has something that cannot be replaced", key)
        }
    }

    private func checkKey(_ key: String) throws(MacroError) {
        if let problem = MacroKey.problem(of: key) { throw mistake(problem, key) }
    }

    private func mistake(_ message: String, _ key: String) -> MacroError {
        var error = MacroError(message)
        error.key = key
        return error
    }

    // MARK: Within the module

    var undefined: JSValue { JSValue(undefinedIn: context) }

    func editing<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try edits.withLock(body)
    }

    private func reporting(_ body: () throws(MacroError) -> Void) {
        do throws(MacroError) { try body() } catch { report(error) }
    }
}
