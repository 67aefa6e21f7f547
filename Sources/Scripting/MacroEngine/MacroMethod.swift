public import JavaScriptCore
internal import Synchronization

/// One macro: its text, which may be changed at any time, and its function.
///
/// Any thread may use it; see ``MacroEngine``.
public final class MacroMethod: Sendable {
    private struct State {
        var javascript: String
        var function: JSValue?
        /// The text from which the function was made.
        var functionText = ""
        var error: MacroError?
    }

    /// Its name in JavaScript.
    public let key: String
    private let engine: MacroEngine
    private let sourceURL: String?
    private let state: Mutex<State>

    /// A macro with its text. The engine's handler is told of mistakes in it, as in later texts.
    /// - Parameters:
    ///   - javascript: the text of one function, as ``MacroEngine/define(_:key:sourceURL:)`` takes it.
    ///   - key: its name in JavaScript.
    ///   - sourceURL: the file name in errors; nil: `key.js`.
    ///   - engine: the engine in which it runs.
    public init(
        javascript: String,
        key: String,
        sourceURL: String? = nil,
        engine: MacroEngine = .sharedInstance
    ) {
        self.key = key
        self.engine = engine
        self.sourceURL = sourceURL
        state = Mutex(State(javascript: javascript))
        setMethod(javascript)
    }

    /// The text. If a new text has a mistake, the engine's handler is told, ``error`` stores it, and the previous
    /// function stays in use.
    public var javascript: String {
        get { state.withLock { $0.javascript } }
        set { setMethod(newValue) }
    }

    /// The mistake in the current text; nil if it has none.
    public var error: MacroError? { state.withLock { $0.error } }

    /// Calls the macro with any Swift values, and returns its result: for an `async` macro, its promise. If it throws,
    /// the engine's handler is told and the result is `undefined`.
    @discardableResult
    public func call(_ params: Any...) -> JSValue {
        do throws(MacroError) {
            return try run(params)
        } catch {
            engine.report(error)
            return engine.undefined
        }
    }

    /// Calls the macro with any Swift values, and returns its result. Throws what it throws, and a ``MacroError`` if
    /// none of its texts was valid.
    @discardableResult
    public func run(_ arguments: [Any]) throws(MacroError) -> JSValue {
        let (function, text) = state.withLock { ($0.function, $0.functionText) }
        guard let function else { throw without }
        do throws(JSError) {
            return try function.call(arguments)
        } catch {
            // The text may have been edited meanwhile.
            throw engine.macroError(error, key: key, javascript: text)
        }
    }

    private var without: MacroError {
        var error = MacroError("TypeError: the macro '\(key)' has no function, for its text has a mistake")
        error.key = key
        return error
    }

    private func setMethod(_ javascript: String) {
        let mistake = engine.editing {
            var new = State(javascript: javascript)
            do throws(MacroError) {
                new.function = try engine.define(javascript, key: key, sourceURL: sourceURL)
                new.functionText = javascript
            } catch {
                (new.function, new.functionText) = state.withLock { ($0.function, $0.functionText) }
                new.error = error
            }
            let mistake = new.error
            // The old function is released outside of the lock, because releasing it calls into the machine.
            state.withLock { swap(&$0, &new) }
            return mistake
        }
        if let mistake { engine.report(mistake) }
    }
}
