import CWebKit
import Configuration
import KioskRules
import Linux
import QuickConnect

/// The window itself: its keys and its end.
extension Kiosk {
    func connectWindow() {
        connect(window, "destroy") { [unowned self] _ in quit() }
        connect(window, asking: "key-press-event") { [unowned self] parameters in
            parameters.pointer(1).map { takes($0) } ?? false
        }
        for signal in [SIGTERM, SIGINT] {
            let quit: GSourceFunc = { data in
                if let data { (owner(data) as Kiosk).quit() }
                return 1
            }
            g_unix_signal_add(signal, quit, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// Makes what is shown smaller by a keyboard's part of the window, with the field that has the focus in sight.
    func leaveRoom(_ overlap: KeyboardOverlap, in box: UnsafeMutablePointer<GtkWidget>) {
        gtk_widget_set_margin_top(box, Int32(overlap.top))
        gtk_widget_set_margin_bottom(box, Int32(overlap.bottom))
        let visible = gtk_stack_get_visible_child(stack)
        let isPage = visible == cast(pages)
        guard let view = isPage ? fallback ?? page : others.first(where: { $0.widget == visible }) else { return }
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
struct Accelerator {
    private var key: guint = 0
    private var modifiers = GdkModifierType(rawValue: 0)

    /// Nil if the text names no key.
    init?(_ text: String) {
        gtk_accelerator_parse(text, &key, &modifiers)
        if key == 0 { return nil }
    }

    func matches(_ event: UnsafeMutablePointer<GdkEventKey>) -> Bool {
        let held = event.pointee.state & gtk_accelerator_get_default_mod_mask().rawValue
        return gdk_keyval_to_lower(event.pointee.keyval) == gdk_keyval_to_lower(key) && held == modifiers.rawValue
    }
}

/// Lets a WebDriver control the page of this window; it gets no view of its own.
extension Kiosk {
    func connectAutomation() {
        connect(engine.context, "automation-started") { [unowned self] parameters in
            if let session = parameters.raw(1) { begin(session) }
        }
    }

    private func begin(_ session: UnsafeMutableRawPointer) {
        let information = webkit_application_info_new()
        webkit_application_info_set_name(information, "QuickConnectKiosk")
        webkit_application_info_set_version(information, 0, 1, 0)
        webkit_automation_session_set_application_info(cast(session), information)
        webkit_application_info_unref(information)
        connect(session, asking: "create-web-view", for: page.view)
    }
}
