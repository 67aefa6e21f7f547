internal import JavaScriptCore
internal import Linux

/// Global variables that JavaScript cannot assign to: the names of macros, if an engine protects them.
struct MacroNames: Sendable {
    private let global: JSValue
    /// Made before any macro runs, because a macro might replace what it uses. The getter is in JavaScript because it
    /// is called often.
    private let define: JSValue?

    private static let script = """
        (define => (global, key, value, set) => {
            define(global, key, {get: () => value, set, enumerable: true, configurable: true})
        })(Object.defineProperty)
        """

    init(_ context: JSContext) {
        global = context.globalObject
        define = try? context.evaluate(Self.script)
    }

    /// Defines the variable, unless something that cannot be replaced has its name.
    func set(_ value: JSValue, _ key: String) {
        guard let context = value.context else { return }
        // A Swift function, so that the error has the position of the assignment.
        let refuse: JSValue = JSValue(newFunctionIn: context, name: key) { (_: JSValue) throws -> Void in
            throw PlainError("'\(key)' is the name of a macro or of something that macros find: choose another name")
        }
        _ = try? define?.call([global, key, value, refuse])
    }
}
