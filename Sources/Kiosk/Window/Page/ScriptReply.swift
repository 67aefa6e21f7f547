import CWebKit

/// The answer to a script's message, for which its promise waits. It can be given once; if it is released without an
/// answer, the promise becomes `undefined`.
public final class ScriptReply {
    private let reply: OpaquePointer
    private let context: OpaquePointer
    private var isGiven = false

    init(_ reply: OpaquePointer, _ context: OpaquePointer) {
        self.reply = webkit_script_message_reply_ref(reply)
        self.context = OpaquePointer(g_object_ref(UnsafeMutableRawPointer(context)))
    }

    isolated deinit {
        webkit_script_message_reply_unref(reply)
        g_object_unref(UnsafeMutableRawPointer(context))
    }

    /// Answers with a text.
    public func give(_ text: String) {
        guard take() else { return }
        let value = jsc_value_new_string(cast(UnsafeMutableRawPointer(context)), text)
        webkit_script_message_reply_return_value(reply, value)
        if let value { g_object_unref(value) }
    }

    /// Rejects the promise with an `Error` with this message.
    public func fail(_ message: String) {
        guard take() else { return }
        webkit_script_message_reply_return_error_message(reply, message)
    }

    private func take() -> Bool {
        defer { isGiven = true }
        return !isGiven
    }
}
