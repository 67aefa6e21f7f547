import CWebKit

/// Messages that scripts post to the window: `await webkit.messageHandlers.NAME.postMessage(text)`.
extension PageView {
    struct HandlerName: Hashable {
        var name: String
        var world: World
    }

    /// Adds a handler. Every frame in that world sees it, and it is unknown which one has posted. A separate world
    /// hides it from the page and its frames.
    /// - Parameter handler: gets the text that was posted; the promise waits for the reply.
    func addMessageHandler(
        _ name: String,
        in world: World,
        _ handler: @escaping (_ text: String, _ reply: ScriptReply) -> Void
    ) {
        let key = HandlerName(name: name, world: world)
        let isNew = messageHandlers.updateValue(handler, forKey: key) == nil
        guard isNew else { return }
        // The signal contains the handler's name but not its world, so each name is used in one world only.
        connect(content, asking: "script-message-with-reply-received::\(name)") { [weak self] parameters in
            guard let handler = self?.messageHandlers[key],
                let value: UnsafeMutablePointer<JSCValue> = parameters.pointer(1),
                let context = jsc_value_get_context(value), let reply = parameters.raw(2),
                jsc_value_is_string(value) != 0, let text = jsc_value_to_string(value)
            else { return false }
            defer { g_free(text) }
            handler(String(cString: text), ScriptReply(OpaquePointer(reply), OpaquePointer(context)))
            return true
        }
        webkit_user_content_manager_register_script_message_handler_with_reply(content, name, world.name)
    }
}

/// The answer to a script's message, for which its promise waits. It can be given once; if it is released without an
/// answer, the promise becomes `undefined`.
final class ScriptReply {
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
    func give(_ text: String) {
        guard take() else { return }
        let value = jsc_value_new_string(cast(UnsafeMutableRawPointer(context)), text)
        webkit_script_message_reply_return_value(reply, value)
        if let value { g_object_unref(value) }
    }

    private func take() -> Bool {
        defer { isGiven = true }
        return !isGiven
    }
}
