import CWebKit
internal import KioskRules

/// Runs scripts in the page. The result is the value as JSON, nil for `undefined`. Each completion is called once, even
/// if the page goes away meanwhile.
extension PageView {
    typealias Completion = (Result<String?, ScriptMistake>) -> Void

    /// The source that errors name for a script without one.
    static let source = "quickconnect:///script"

    /// Runs a script. Its value is that of its last expression. The page's Content-Security-Policy does not apply.
    ///
    /// The script runs in a block, so that its `const` is local. It cannot use `await` and `return` outside of
    /// functions.
    /// - Parameter source: an absolute address that errors name as the script's source.
    func evaluate(
        _ text: String,
        in world: World,
        source: String = PageView.source,
        completion: @escaping Completion
    ) {
        // On the script's first line, so that lines count from 1.
        let block = "{\(text)\n}"
        let end = AsyncEnd { object, result in
            var error: UnsafeMutablePointer<GError>?
            let value = webkit_web_view_evaluate_javascript_finish(cast(object), result, &error)
            completion(Self.outcome(value, error, source, firstColumn: 1))
        }
        webkit_web_view_evaluate_javascript(view, block, -1, world.name, source, nil, AsyncEnd.run, end.retained)
    }

    /// Runs a script as the body of an async function: it may `await`, and `return` its value.
    ///
    /// Data is passed as arguments, never as a part of the script.
    /// - Parameter arguments: strings by name; other values are passed as JSON for `JSON.parse`.
    func call(
        _ body: String,
        _ arguments: [String: String] = [:],
        in world: World,
        source: String = PageView.source,
        completion: @escaping Completion
    ) {
        let end = AsyncEnd { object, result in
            var error: UnsafeMutablePointer<GError>?
            let value = webkit_web_view_call_async_javascript_function_finish(cast(object), result, &error)
            completion(Self.outcome(value, error, source, firstColumn: 0))
        }
        webkit_web_view_call_async_javascript_function(
            view,
            body,
            -1,
            Self.variant(arguments),
            world.name,
            source,
            nil,
            AsyncEnd.run,
            end.retained
        )
    }

    private static func variant(_ arguments: [String: String]) -> OpaquePointer? {
        guard !arguments.isEmpty else { return nil }
        let dictionary = g_variant_dict_new(nil)
        defer { g_variant_dict_unref(dictionary) }
        for (name, text) in arguments { g_variant_dict_insert_value(dictionary, name, g_variant_new_string(text)) }
        return g_variant_dict_end(dictionary)
    }

    /// - Parameter firstColumn: how many characters precede the script on its first line.
    private static func outcome(
        _ value: UnsafeMutablePointer<JSCValue>?,
        _ error: UnsafeMutablePointer<GError>?,
        _ source: String,
        firstColumn: Int
    ) -> Result<String?, ScriptMistake> {
        defer { if let value { g_object_unref(value) } }
        if error != nil { return .failure(mistake(error, source, firstColumn)) }
        return .success(value.flatMap { json($0) })
    }

    private static func json(_ value: UnsafeMutablePointer<JSCValue>) -> String? {
        guard let text = jsc_value_to_json(value, 0) else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    private static func mistake(
        _ error: UnsafeMutablePointer<GError>?,
        _ source: String,
        _ firstColumn: Int
    ) -> ScriptMistake {
        let (code, text) = takeMessage(error)
        // WEBKIT_JAVASCRIPT_ERROR_INVALID_RESULT stands for both.
        if code == Int32(WEBKIT_JAVASCRIPT_ERROR_INVALID_RESULT.rawValue) {
            guard text.contains("Unsupported") else { return ScriptMistake(.pageLost, text) }
            let what = "its value is none that JSON has, but such as a function or an element"
            return ScriptMistake(.unsupportedValue, what)
        }
        var mistake = ScriptMistake(engine: text, source: source)
        if mistake.line == 1, let column = mistake.column { mistake.column = max(1, column - firstColumn) }
        return mistake
    }
}
