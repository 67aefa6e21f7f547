public import JavaScriptCore
internal import Synchronization

/// One macro: its text, which may be set anew at any time, and the function that it stands for.
///
/// Any thread may use it; see ``MacroEngine``.
public final class MacroMethod: Sendable {
    private struct State {
        var javascript: String
        var function: JSValue?
        /// The text that the function is of.
        var functionText = ""
        var error: MacroError?
    }

    /// The name under which JavaScript finds it.
    public let key: String
    private let engine: MacroEngine
    private let sourceURL: String?
    private let state: Mutex<State>

    /// A macro with its text. A mistake in it is told to the engine's handler, as one in a later text is.
    /// - Parameters:
    ///   - javascript: the text of one function, as ``MacroEngine/define(_:key:sourceURL:)`` takes it.
    ///   - key: its name in JavaScript.
    ///   - sourceURL: what errors name as its file; nil: `key.js`.
    ///   - engine: where it runs.
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

    /// The text. Where a new one has a mistake, the engine's handler is told, ``error`` keeps it, and the function of the
    /// text before goes on to be called.
    public var javascript: String {
        get { state.withLock { $0.javascript } }
        set { setMethod(newValue) }
    }

    /// The mistake in the text as it is now; nil where it is right.
    public var error: MacroError? { state.withLock { $0.error } }

    /// Calls the macro with any Swift values, and answers what it returns: for an `async` one its promise. What it throws
    /// is told to the engine's handler, and the answer is `undefined`.
    @discardableResult
    public func call(_ params: Any...) -> JSValue {
        do throws(MacroError) {
            return try run(params)
        } catch {
            engine.tell(error)
            return engine.undefined
        }
    }

    /// Calls the macro with any Swift values, and answers what it returns. Throws what it throws, and a ``MacroError``
    /// where none of its texts was right.
    @discardableResult
    public func run(_ arguments: [Any]) throws(MacroError) -> JSValue {
        let (function, text) = state.withLock { ($0.function, $0.functionText) }
        guard let function else { throw without }
        do throws(JSError) {
            return try function.call(arguments)
        } catch {
            // It may have been edited meanwhile.
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
            // The old function goes outside of the lock: to let it go is a call into the machine.
            state.withLock { swap(&$0, &new) }
            return mistake
        }
        if let mistake { engine.tell(mistake) }
    }
}
