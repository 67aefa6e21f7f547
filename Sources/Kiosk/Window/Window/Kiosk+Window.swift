import CWebKit
import Configuration
import KioskRules
import Linux
import QuickConnect

/// The window itself: its keys and its end.
extension Kiosk {
    func connectWindow() {
        let closed: @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void = { _, data in
            let kiosk: Kiosk = owner(data)
            kiosk.quit()
        }
        connect(window, "destroy", unsafeBitCast(closed, to: GCallback.self), self)
        let key:
            @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<GdkEventKey>, UnsafeMutableRawPointer) ->
                gboolean =
                { _, event, data in
                    let kiosk: Kiosk = owner(data)
                    return kiosk.takes(event) ? 1 : 0
                }
        connect(window, "key-press-event", unsafeBitCast(key, to: GCallback.self), self)
        g_unix_signal_add(
            SIGTERM,
            { data in
                if let data { (owner(data) as Kiosk).quit() }
                return 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        g_unix_signal_add(
            SIGINT,
            { data in
                if let data { (owner(data) as Kiosk).quit() }
                return 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Makes what is shown smaller by a keyboard's part of the window, with the field that has the focus in sight.
    func leaveRoom(_ overlap: KeyboardOverlap, in box: UnsafeMutablePointer<GtkWidget>) {
        gtk_widget_set_margin_top(box, Int32(overlap.top))
        gtk_widget_set_margin_bottom(box, Int32(overlap.bottom))
        let visible = gtk_stack_get_visible_child(stack)
        guard let view = ([page] + others).first(where: { $0.widget == visible }) else { return }
        let script = """
            addEventListener('resize', () => document.activeElement?.scrollIntoView({ block: 'nearest' }), { once: true })
            """
        view.evaluate(script, in: .named("keyboard")) { _ in }
    }

    /// The leaving key is handled before the page gets it.
    func takes(_ event: UnsafeMutablePointer<GdkEventKey>) -> Bool {
        guard let name = options.settings.leaveKey?.value, let key = Accelerator(name) else { return false }
        guard key.matches(event) else { return false }
        log.write("left by its key", .notice)
        quit()
        return true
    }
}

/// A key with modifiers, as GTK writes it: `<Control><Alt>q`.
public struct Accelerator {
    private var key: guint = 0
    private var modifiers = GdkModifierType(rawValue: 0)

    /// Nil if the text names no key.
    public init?(_ text: String) {
        gtk_accelerator_parse(text, &key, &modifiers)
        if key == 0 { return nil }
    }

    func matches(_ event: UnsafeMutablePointer<GdkEventKey>) -> Bool {
        let held = event.pointee.state & gtk_accelerator_get_default_mod_mask().rawValue
        return gdk_keyval_to_lower(event.pointee.keyval) == gdk_keyval_to_lower(key) && held == modifiers.rawValue
    }
}
