internal import CJavaScriptCore
internal import CJavaScriptCoreShims
internal import Synchronization

/// An environment in which JavaScript runs: a global object of its own, in a ``JSVirtualMachine``.
///
/// An error in JavaScript is given to ``exceptionHandler``, whose default keeps it in ``exception``; the call that led
/// to it answers `undefined`. ``evaluate(_:sourceURL:line:)`` throws it instead.
///
/// What is optional, and unwrapped by itself, is so in Apple's framework: code that was written for that compiles.
public final class JSContext: @unchecked Sendable {
    // Sendable because the library takes the machine's lock in each of its functions, and `state` is guarded.
    private struct State: @unchecked Sendable {
        // Sendable because it is only touched while `state` is locked; the handlers are called as Apple's are, on the
        // thread that JavaScript threw on.
        var exception: JSValue?
        var handler: ((JSContext?, JSValue?) -> Void)?
        var rejectionHandler: ((JSContext?, JSValue?, JSValue?) -> Void)?
        /// Protected. Not as values, which would keep the context alive.
        var prototypes: [ObjectIdentifier: OpaquePointer] = [:]
        /// What each class said first, for it may say it anew each time.
        var exports: [ObjectIdentifier: JSExports] = [:]
    }

    /// The machine that it belongs to. Never nil.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public let virtualMachine: JSVirtualMachine!
    let machine: JSVirtualMachine
    let ref: OpaquePointer
    private let state = Mutex(State())

    /// A context in a machine of its own.
    public convenience init!() { self.init(virtualMachine: JSVirtualMachine()) }

    /// A context in a machine, which may have others. Their values may be exchanged. Nil without a machine.
    public init!(virtualMachine: JSVirtualMachine!) {
        guard let machine = virtualMachine, let ref = JSGlobalContextCreateInGroup(machine.group, nil) else {
            return nil
        }
        self.virtualMachine = machine
        self.machine = machine
        self.ref = ref
        // The library's default is on, where its inspector server has been configured.
        JSGlobalContextSetInspectable(ref, false)
        ContextRegistry.add(self)
    }

    /// An object for a context that lives in the library already.
    init!(adopting ref: OpaquePointer, in machine: JSVirtualMachine) {
        guard let global = JSContextGetGlobalContext(ref) else { return nil }
        JSGlobalContextRetain(global)
        virtualMachine = machine
        self.machine = machine
        self.ref = global
        ContextRegistry.add(self)
    }

    deinit {
        ContextRegistry.remove(ref)
        for prototype in state.withLock({ $0.prototypes.values }) { JSValueUnprotect(ref, prototype) }
        machine.graveyard.empty()
        JSGlobalContextRelease(ref)
    }

    // MARK: Evaluating

    /// Runs a script, and answers the value of its last statement; `undefined` where it failed.
    @discardableResult
    public func evaluateScript(_ script: String!) -> JSValue! { evaluateScript(script, withSourceURL: nil) }

    /// Runs a script whose errors name `sourceURL` as their file.
    @discardableResult
    public func evaluateScript(_ script: String!, withSourceURL sourceURL: String!) -> JSValue! {
        reporting { () throws(JSError) in try evaluate(script ?? "", sourceURL: sourceURL) }
    }

    /// Runs a script, and answers the value of its last statement, or throws what it threw.
    /// - Parameters:
    ///   - script: the text.
    ///   - sourceURL: what errors name as their file.
    ///   - line: the number of the script's first line; below 1 it is 1, beyond 2147483647 it is that.
    @discardableResult
    public func evaluate(_ script: String, sourceURL: String? = nil, line: Int = 1) throws(JSError) -> JSValue {
        machine.graveyard.empty()
        var exception: OpaquePointer?
        let result = Text.with(script) { source in
            guard let sourceURL else {
                return JSEvaluateScript(ref, source, nil, nil, Int32(clamping: line), &exception)
            }
            return Text.with(sourceURL) { JSEvaluateScript(ref, source, nil, $0, Int32(clamping: line), &exception) }
        }
        return try value(result, or: exception)
    }

    /// Parses a script without running it. Throws the first mistake, with its line.
    /// - Parameters:
    ///   - script: the text.
    ///   - sourceURL: what the error names as its file.
    ///   - line: the number of the script's first line, within the limits of ``evaluate(_:sourceURL:line:)``.
    public func checkSyntax(_ script: String, sourceURL: String? = nil, line: Int = 1) throws(JSError) {
        var exception: OpaquePointer?
        let isGood = Text.with(script) { source in
            Text.with(sourceURL ?? "") { JSCheckScriptSyntax(ref, source, $0, Int32(clamping: line), &exception) }
        }
        if !isGood { throw error(exception) }
    }

    // MARK: Errors

    /// What was thrown last and not taken by a handler of one's own. Nil again when it is set to nil.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var exception: JSValue! {
        get { state.withLock { $0.exception } }
        set { replace(\.exception, newValue) }
    }

    /// Is given what JavaScript throws. The default keeps it in ``exception``.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var exceptionHandler: ((JSContext?, JSValue?) -> Void)! {
        get { state.withLock { $0.handler } ?? { context, exception in context?.exception = exception } }
        set { replace(\.handler, newValue) }
    }

    /// Is given the promises that are rejected with nobody to handle it, with their reasons, when the call into
    /// JavaScript ends. Nil: nobody is told.
    public var unhandledRejectionHandler: ((JSContext?, _ promise: JSValue?, _ reason: JSValue?) -> Void)? {
        get { state.withLock { $0.rejectionHandler } }
        set {
            replace(\.rejectionHandler, newValue)
            guard newValue != nil else { return }
            let function = NativeFunction.make("", in: self) { frame in
                let context = frame.context
                context?.state.withLock { $0.rejectionHandler }?(context, frame.value(0), frame.value(1))
                return frame.undefined
            }
            var exception: OpaquePointer?
            qc_js_set_rejection_handler(ref, function, &exception)
        }
    }

    // MARK: Within the module

    /// What a function of the library gave, or what was thrown instead.
    func value(_ result: OpaquePointer?, or exception: OpaquePointer?) throws(JSError) -> JSValue {
        if exception != nil || result == nil { throw error(exception) }
        return JSValue(result, in: self)
    }

    func error(_ exception: OpaquePointer?) -> JSError {
        guard let exception else { return JSError(message: "JavaScript execution terminated") }
        return JSError(JSValue(exception, in: self))
    }

    /// Throws what a function of the library left behind that says nothing of exceptions; the next one would throw it.
    func throwPending() throws(JSError) {
        var exception: OpaquePointer?
        _ = JSValueToNumber(ref, JSValueMakeNumber(ref, 0), &exception)
        if exception != nil { throw error(exception) }
    }

    /// Does what may throw as Apple's framework does it: the handler gets the error, the caller `undefined`.
    @discardableResult
    func reporting(_ body: () throws(JSError) -> JSValue) -> JSValue {
        do throws(JSError) {
            return try body()
        } catch {
            report(error)
            return JSValue(nil, in: self)
        }
    }

    func report(_ error: JSError) {
        exceptionHandler(self, error.value ?? makeError(error.message))
    }

    /// Sets what is guarded, and drops the old value outside of the lock, for that may use the context.
    private func replace<Value>(_ path: WritableKeyPath<State, Value>, _ value: Value) {
        var value = value
        state.withLock { swap(&$0[keyPath: path], &value) }
    }

    /// What a class exports, as it said when it was first asked.
    func exports(of type: any JSExport.Type) -> JSExports {
        let key = ObjectIdentifier(type)
        if let exports = state.withLock({ $0.exports[key] }) { return exports }
        let exports = type.jsExports
        return state.withLock { state in
            let first = state.exports[key] ?? exports
            state.exports[key] = first
            return first
        }
    }

    /// The prototype of an exported class in this context.
    func prototype(of exports: JSExports, make: () -> JSValue) -> JSValue {
        let key = ObjectIdentifier(exports)
        if let prototype = state.withLock({ $0.prototypes[key] }) { return JSValue(prototype, in: self) }
        let prototype = make()
        let first = state.withLock { state in
            let first = state.prototypes[key]
            if first == nil { state.prototypes[key] = prototype.ref }
            return first
        }
        if let first { return JSValue(first, in: self) }
        JSValueProtect(ref, prototype.ref)
        return prototype
    }

    /// The object for a context of the library.
    static func of(_ ref: OpaquePointer?) -> JSContext? {
        guard let global = JSContextGetGlobalContext(ref) else { return nil }
        return ContextRegistry.find(global) ?? NativeFrame.current?.adopt(global)
    }
}
