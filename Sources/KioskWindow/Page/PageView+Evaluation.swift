import CWebKit
public import KioskRules

/// Runs text in the page. The result is the value as JSON, nil for `undefined`; each completion is called once, also where
/// the page goes away meanwhile.
extension PageView {
    public typealias Completion = (Result<String?, ScriptMistake>) -> Void

    /// What errors call a text that names no source of its own.
    public static let source = "quickconnect:///script"

    /// Runs a text, whose value is that of its last expression. The page's Content-Security-Policy does not matter.
    ///
    /// The text stands in a block, so that its `const` is its own. It has no `await` and no `return` outside of functions.
    /// - Parameter source: an absolute address, which errors name the text by.
    public func evaluate(
        _ text: String,
        in world: World,
        source: String = PageView.source,
        completion: @escaping Completion
    ) {
        // On its first line, so that lines count from 1.
        let block = "{\(text)\n}"
        let call = PendingCall(source: source, firstColumn: 1, completion)
        webkit_web_view_evaluate_javascript(view, block, -1, world.name, source, nil, Self.evaluated, call.retained)
    }

    /// Runs a text as the body of an async function: it may `await`, and `return` its value.
    ///
    /// What it works on comes as arguments, never as a part of the text.
    /// - Parameter arguments: texts by their names; anything else goes as JSON for `JSON.parse`.
    public func call(
        _ body: String,
        _ arguments: [String: String] = [:],
        in world: World,
        source: String = PageView.source,
        completion: @escaping Completion
    ) {
        let call = PendingCall(source: source, firstColumn: 0, completion)
        webkit_web_view_call_async_javascript_function(
            view,
            body,
            -1,
            Self.variant(arguments),
            world.name,
            source,
            nil,
            Self.called,
            call.retained
        )
    }

    private static func variant(_ arguments: [String: String]) -> OpaquePointer? {
        guard !arguments.isEmpty else { return nil }
        let dictionary = g_variant_dict_new(nil)
        defer { g_variant_dict_unref(dictionary) }
        for (name, text) in arguments { g_variant_dict_insert_value(dictionary, name, g_variant_new_string(text)) }
        return g_variant_dict_end(dictionary)
    }

    private static let evaluated: GAsyncReadyCallback = { object, result, data in
        guard let object, let data else { return }
        var error: UnsafeMutablePointer<GError>?
        let value = webkit_web_view_evaluate_javascript_finish(cast(object), result, &error)
        PendingCall.finish(data, value, error)
    }

    private static let called: GAsyncReadyCallback = { object, result, data in
        guard let object, let data else { return }
        var error: UnsafeMutablePointer<GError>?
        let value = webkit_web_view_call_async_javascript_function_finish(cast(object), result, &error)
        PendingCall.finish(data, value, error)
    }
}

/// A text that runs, and who waits for its value.
private final class PendingCall {
    private let source: String
    /// How many characters stand before the first line.
    private let firstColumn: Int
    private let completion: PageView.Completion

    init(source: String, firstColumn: Int, _ completion: @escaping PageView.Completion) {
        self.source = source
        self.firstColumn = firstColumn
        self.completion = completion
    }

    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func finish(
        _ data: UnsafeMutableRawPointer,
        _ value: UnsafeMutablePointer<JSCValue>?,
        _ error: UnsafeMutablePointer<GError>?
    ) {
        let call = Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue()
        defer { if let value { g_object_unref(value) } }
        if error != nil { return call.completion(.failure(call.mistake(error))) }
        call.completion(.success(value.flatMap { json($0) }))
    }

    private static func json(_ value: UnsafeMutablePointer<JSCValue>) -> String? {
        guard let text = jsc_value_to_json(value, 0) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    private func mistake(_ error: UnsafeMutablePointer<GError>?) -> ScriptMistake {
        let (code, text) = takeMessage(error)
        // WEBKIT_JAVASCRIPT_ERROR_INVALID_RESULT is for both.
        if code == Int32(WEBKIT_JAVASCRIPT_ERROR_INVALID_RESULT.rawValue) {
            return ScriptMistake(text.contains("Unsupported") ? .unsupportedValue : .pageLost, text)
        }
        var mistake = ScriptMistake(engine: text, source: source)
        if mistake.line == 1, let column = mistake.column { mistake.column = max(1, column - firstColumn) }
        return mistake
    }
}
