import CWebKit
import KioskRules

/// Messages that scripts post to the window: `await webkit.messageHandlers.NAME.postMessage(text)`.
extension PageView {
    struct HandlerName: Hashable {
        var name: String
        var world: World
    }

    /// Adds a handler. Every frame in that world sees it, and it is unknown which one has posted. A separate world
    /// hides it from the page and its frames.
    /// - Parameter handler: gets the text that was posted; the promise waits for the reply.
    public func addMessageHandler(
        _ name: String,
        in world: World,
        _ handler: @escaping (_ text: String, _ reply: ScriptReply) -> Void
    ) {
        let key = HandlerName(name: name, world: world)
        let isNew = messageHandlers.updateValue(handler, forKey: key) == nil
        guard isNew else { return }
        let box = HandlerBox(self, key)
        let received:
            @convention(c) (
                UnsafeMutableRawPointer, UnsafeMutablePointer<JSCValue>, OpaquePointer, UnsafeMutableRawPointer
            ) -> gboolean = { _, value, reply, data in
                let box: HandlerBox = owner(data)
                return box.take(value, reply)
            }
        // The signal contains the handler's name but not its world, so each name is used in one world only.
        boxes[key] = box
        connect(
            content,
            "script-message-with-reply-received::\(name)",
            unsafeBitCast(received, to: GCallback.self),
            box
        )
        webkit_user_content_manager_register_script_message_handler_with_reply(content, name, world.name)
    }

    /// Removes a handler: scripts no longer find it.
    public func removeMessageHandler(_ name: String, in world: World) {
        let key = HandlerName(name: name, world: world)
        guard messageHandlers.removeValue(forKey: key) != nil else { return }
        webkit_user_content_manager_unregister_script_message_handler_in_world(content, name, world.name)
        if let box = boxes.removeValue(forKey: key) { box.disconnect(content) }
    }
}

/// A handler with its name, for the signal.
final class HandlerBox {
    private weak var view: PageView?
    private let key: PageView.HandlerName

    init(_ view: PageView, _ key: PageView.HandlerName) {
        self.view = view
        self.key = key
    }

    func take(_ value: UnsafeMutablePointer<JSCValue>, _ reply: OpaquePointer) -> gboolean {
        guard let handler = view?.messageHandlers[key], let context = jsc_value_get_context(value) else { return 0 }
        guard jsc_value_is_string(value) != 0, let text = jsc_value_to_string(value) else { return 0 }
        defer { g_free(text) }
        handler(String(cString: text), ScriptReply(reply, OpaquePointer(context)))
        return 1
    }

    func disconnect(_ object: UnsafeMutableRawPointer) {
        let data = Unmanaged.passUnretained(self).toOpaque()
        g_signal_handlers_disconnect_matched(object, G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, data)
    }
}
