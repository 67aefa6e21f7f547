internal import CJavaScriptCore
internal import CJavaScriptCoreShims
internal import Synchronization

/// An environment in which JavaScript runs: a global object of its own, in a ``JSVirtualMachine``.
///
/// An error in JavaScript is passed to ``exceptionHandler``, whose default stores it in ``exception``; the call that
/// caused it returns `undefined`. ``evaluate(_:sourceURL:line:)`` throws it instead.
///
/// Implicitly unwrapped optionals are as in Apple's framework, so that code written for it compiles.
public final class JSContext: @unchecked Sendable {
    // Sendable because the library takes the machine's lock in each of its functions, and `state` is guarded.
    private struct State: @unchecked Sendable {
        // Sendable because it is only accessed while `state` is locked. The handlers are called as Apple's are, on the
        // thread where JavaScript threw.
        var exception: JSValue?
        var handler: ((JSContext?, JSValue?) -> Void)?
        var rejectionHandler: ((JSContext?, JSValue?, JSValue?) -> Void)?
        /// Protected from collection, but not as a ``JSValue``, which would keep the context alive.
        var prototypes: [ObjectIdentifier: OpaquePointer] = [:]
        /// What each class returned at first, because it may return a new object each time.
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

    /// A context in a machine that may have others. They can exchange values. Nil without a machine.
    public init!(virtualMachine: JSVirtualMachine!) {
        guard let machine = virtualMachine, let ref = JSGlobalContextCreateInGroup(machine.group, nil) else {
            return nil
        }
        self.virtualMachine = machine
        self.machine = machine
        self.ref = ref
        // The library's default is on if its inspector server has been configured.
        JSGlobalContextSetInspectable(ref, false)
        ContextRegistry.add(self)
    }

    /// An object for a context that already exists in the library.
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
        machine.releaseQueue.empty()
        JSGlobalContextRelease(ref)
    }

    // MARK: Evaluating

    /// Runs a script, and returns the value of its last statement; `undefined` if it failed.
    @discardableResult
    public func evaluateScript(_ script: String!) -> JSValue! { evaluateScript(script, withSourceURL: nil) }

    /// Runs a script whose errors name `sourceURL` as their file.
    @discardableResult
    public func evaluateScript(_ script: String!, withSourceURL sourceURL: String!) -> JSValue! {
        reporting { () throws(JSError) in try evaluate(script ?? "", sourceURL: sourceURL) }
    }

    /// Runs a script, and returns the value of its last statement, or throws what it threw.
    /// - Parameters:
    ///   - script: the text.
    ///   - sourceURL: the file name in errors.
    ///   - line: the number of the script's first line; clamped to 1...2147483647.
    @discardableResult
    public func evaluate(_ script: String, sourceURL: String? = nil, line: Int = 1) throws(JSError) -> JSValue {
        machine.releaseQueue.empty()
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
    ///   - sourceURL: the file name in the error.
    ///   - line: the number of the script's first line, within the limits of ``evaluate(_:sourceURL:line:)``.
    public func checkSyntax(_ script: String, sourceURL: String? = nil, line: Int = 1) throws(JSError) {
        var exception: OpaquePointer?
        let isGood = Text.with(script) { source in
            Text.with(sourceURL ?? "") { JSCheckScriptSyntax(ref, source, $0, Int32(clamping: line), &exception) }
        }
        if !isGood { throw error(exception) }
    }

    // MARK: Errors

    /// The last error that no handler of your own has taken. Setting it to nil clears it.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var exception: JSValue! {
        get { state.withLock { $0.exception } }
        set { replace(\.exception, newValue) }
    }

    /// Receives what JavaScript throws. The default stores it in ``exception``.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var exceptionHandler: ((JSContext?, JSValue?) -> Void)! {
        get { state.withLock { $0.handler } ?? { context, exception in context?.exception = exception } }
        set { replace(\.handler, newValue) }
    }

    /// Receives the promises that are rejected without a handler, and their reasons, when the call into JavaScript
    /// ends. If nil, they are ignored.
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

    /// The result of a function of the library, or what was thrown instead.
    func value(_ result: OpaquePointer?, or exception: OpaquePointer?) throws(JSError) -> JSValue {
        if exception != nil || result == nil { throw error(exception) }
        return JSValue(result, in: self)
    }

    func error(_ exception: OpaquePointer?) -> JSError {
        guard let exception else { return JSError(message: "JavaScript execution terminated") }
        return JSError(JSValue(exception, in: self))
    }

    /// Throws an exception left pending by a function of the library that reports none; otherwise the next function
    /// would throw it.
    func throwPending() throws(JSError) {
        var exception: OpaquePointer?
        _ = JSValueToNumber(ref, JSValueMakeNumber(ref, 0), &exception)
        if exception != nil { throw error(exception) }
    }

    /// Handles errors as Apple's framework does: the handler gets the error, the caller `undefined`.
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

    /// Sets a guarded value, and releases the old one outside of the lock, because its release may use the context.
    private func replace<Value>(_ path: WritableKeyPath<State, Value>, _ value: Value) {
        var value = value
        state.withLock { swap(&$0[keyPath: path], &value) }
    }

    /// The exports of a class, as it returned them at first.
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
