import CWebKit
import KioskRules

/// The page's alert, confirm and prompt, as dialogs of the window. The page waits for the answer, the window does not.
final class Dialogs {
    private let parent: UnsafeMutablePointer<GtkWidget>
    private let isAutomated: Bool
    private let takesKey: OpenDialog.TakesKey
    private var open: OpenDialog?
    /// When a page last opened a dialog.
    private(set) var lastAsked: ContinuousClock.Instant?
    /// Whether nobody sees the page: its dialogs are closed at once.
    var isUnseen = false

    /// - Parameter takesKey: whether a key belongs to the window and does not answer the dialog, so that a page with
    ///   endless dialogs cannot trap anybody.
    init(
        _ view: PageView,
        parent: UnsafeMutablePointer<GtkWidget>,
        isAutomated: Bool,
        takesKey: @escaping (UnsafeMutablePointer<GdkEventKey>) -> Bool
    ) {
        self.parent = parent
        self.isAutomated = isAutomated
        self.takesKey = takesKey
        connect(view.view, asking: "script-dialog") { [unowned self] parameters in
            parameters.raw(1).map { ask(OpaquePointer($0)) } ?? false
        }
    }

    var isOpen: Bool { open != nil }

    /// The page is gone, so nobody waits for an answer.
    func close() {
        open?.finish(.cancelled)
        open = nil
    }

    /// - Returns: whether the window shows the dialog. A WebDriver answers the engine's own dialog.
    private func ask(_ dialog: OpaquePointer) -> Bool {
        lastAsked = .now
        guard !isAutomated else { return false }
        // The engine closes what nobody keeps.
        guard !isUnseen else { return true }
        close()
        let ended: () -> Void = { [weak self] in self?.open = nil }
        guard let window = OpenDialog(dialog, parent, takesKey, ended: ended) else { return false }
        open = window
        return true
    }
}

/// A dialog that is shown, until a person has answered it.
final class OpenDialog {
    enum Answer { case accepted, cancelled }

    typealias TakesKey = (UnsafeMutablePointer<GdkEventKey>) -> Bool

    /// A page may ask a question of any length; more than this is cut.
    private static let (maxCharacters, maxLines) = (2000, 30)

    private let dialog: OpaquePointer
    private let widget: UnsafeMutablePointer<GtkWidget>
    private var entry: UnsafeMutablePointer<GtkWidget>?
    private let kind: WebKitScriptDialogType
    private let takesKey: TakesKey
    private let ended: () -> Void
    private var isOver = false

    init?(
        _ dialog: OpaquePointer,
        _ parent: UnsafeMutablePointer<GtkWidget>,
        _ takesKey: @escaping TakesKey,
        ended: @escaping () -> Void
    ) {
        guard let widget = gtk_dialog_new() else { return nil }
        self.dialog = webkit_script_dialog_ref(dialog)
        self.widget = widget
        self.takesKey = takesKey
        self.ended = ended
        kind = webkit_script_dialog_get_dialog_type(dialog)
        let window: UnsafeMutablePointer<GtkWindow> = cast(widget)
        gtk_window_set_transient_for(window, cast(parent))
        gtk_window_set_modal(window, 1)
        gtk_window_set_position(window, GTK_WIN_POS_CENTER_ON_PARENT)
        gtk_window_set_title(window, " ")
        fill(webkit_script_dialog_get_message(dialog).map { String(cString: $0) } ?? "", height: height(parent))
        connectSignals()
        gtk_widget_show_all(widget)
    }

    private func connectSignals() {
        connect(widget, "response") { [unowned self] parameters in
            finish(parameters.integer(1) == GTK_RESPONSE_OK.rawValue ? .accepted : .cancelled)
        }
        connect(widget, asking: "key-press-event") { [unowned self] parameters in
            parameters.pointer(1).map { takesKey($0) } ?? false
        }
    }

    /// The most height that the question may take, so that the buttons stay on the screen.
    private func height(_ parent: UnsafeMutablePointer<GtkWidget>) -> gint {
        max(60, gtk_widget_get_allocated_height(parent) / 2)
    }

    private func fill(_ message: String, height: gint) {
        guard let area = gtk_dialog_get_content_area(cast(widget)) else { return }
        gtk_container_set_border_width(cast(area), 16)
        gtk_box_set_spacing(cast(area), 16)
        addQuestion(message, to: area, height)
        if kind == WEBKIT_SCRIPT_DIALOG_PROMPT { addEntry(to: area) }
        let asks = kind != WEBKIT_SCRIPT_DIALOG_ALERT
        let leaves = kind == WEBKIT_SCRIPT_DIALOG_BEFORE_UNLOAD_CONFIRM
        if asks { gtk_dialog_add_button(cast(widget), leaves ? "Stay" : "Cancel", GTK_RESPONSE_CANCEL.rawValue) }
        gtk_dialog_add_button(cast(widget), leaves ? "Leave" : "OK", GTK_RESPONSE_OK.rawValue)
        gtk_dialog_set_default_response(cast(widget), GTK_RESPONSE_OK.rawValue)
    }

    private func addQuestion(_ message: String, to area: UnsafeMutablePointer<GtkWidget>, _ height: gint) {
        let text = ShortText.of(message, length: Self.maxCharacters, lines: Self.maxLines)
        guard let label = gtk_label_new(text), let scrolled = gtk_scrolled_window_new(nil, nil) else { return }
        gtk_label_set_line_wrap(cast(label), 1)
        gtk_label_set_line_wrap_mode(cast(label), PANGO_WRAP_WORD_CHAR)
        gtk_label_set_max_width_chars(cast(label), 60)
        let window: UnsafeMutablePointer<GtkScrolledWindow> = cast(scrolled)
        gtk_scrolled_window_set_policy(window, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_propagate_natural_height(window, 1)
        gtk_scrolled_window_set_max_content_height(window, height)
        gtk_container_add(cast(scrolled), label)
        gtk_container_add(cast(area), scrolled)
    }

    private func addEntry(to area: UnsafeMutablePointer<GtkWidget>) {
        guard let entry = gtk_entry_new() else { return }
        let text = webkit_script_dialog_prompt_get_default_text(dialog).map { String(cString: $0) } ?? ""
        gtk_entry_set_text(cast(entry), text)
        gtk_entry_set_activates_default(cast(entry), 1)
        gtk_container_add(cast(area), entry)
        // Otherwise the question, which can be scrolled, would have the keyboard focus.
        gtk_widget_grab_focus(entry)
        self.entry = entry
    }

    func finish(_ answer: Answer) {
        guard !isOver else { return }
        isOver = true
        switch kind {
        case WEBKIT_SCRIPT_DIALOG_CONFIRM, WEBKIT_SCRIPT_DIALOG_BEFORE_UNLOAD_CONFIRM:
            webkit_script_dialog_confirm_set_confirmed(dialog, answer == .accepted ? 1 : 0)
        case WEBKIT_SCRIPT_DIALOG_PROMPT where answer == .accepted:
            if let entry { webkit_script_dialog_prompt_set_text(dialog, gtk_entry_get_text(cast(entry))) }
        default: break
        }
        webkit_script_dialog_close(dialog)
        webkit_script_dialog_unref(dialog)
        gtk_widget_destroy(widget)
        ended()
    }
}
