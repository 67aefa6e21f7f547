import CWebKit

/// The view shown instead of a lost page: what happened, and a button. It does not use the web engine.
final class Notice {
    let widget: UnsafeMutablePointer<GtkWidget>
    private let title: UnsafeMutablePointer<GtkLabel>
    private let details: UnsafeMutablePointer<GtkLabel>
    private let button: UnsafeMutablePointer<GtkWidget>
    private var restart: () -> Void = {}
    private var timer: LoopSource?
    private var secondsLeft = 0
    /// The text shown now; nil if none is shown.
    private(set) var text: String?

    init() {
        widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 24)
        let (heading, text) = (gtk_label_new(nil), gtk_label_new(nil))
        title = cast(UnsafeMutableRawPointer(heading ?? widget))
        details = cast(UnsafeMutableRawPointer(text ?? widget))
        button = gtk_button_new_with_label("Restart")
        for label in [heading, text, button] {
            guard let label else { continue }
            gtk_widget_set_halign(label, GTK_ALIGN_CENTER)
            gtk_box_pack_start(cast(widget), label, 0, 0, 0)
        }
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_margin_start(widget, 24)
        gtk_widget_set_margin_end(widget, 24)
        // Large enough for a finger.
        gtk_widget_set_size_request(button, 200, 64)
        for label in [title, details] {
            gtk_label_set_line_wrap(label, 1)
            gtk_label_set_line_wrap_mode(label, PANGO_WRAP_WORD_CHAR)
            gtk_label_set_justify(label, GTK_JUSTIFY_CENTER)
            gtk_label_set_max_width_chars(label, 60)
        }
        connect(button, "clicked") { [unowned self] _ in finish() }
    }

    /// - Parameters:
    ///   - again: when the page is loaded again automatically.
    ///   - restart: loads it.
    func show(_ heading: String, _ text: String, again: Duration, restart: @escaping () -> Void) {
        self.restart = restart
        self.text = "\(heading) \(text)"
        let markup = g_markup_escape_text(heading, -1)
        defer { g_free(markup) }
        gtk_label_set_markup(title, "<span size='xx-large'>\(markup.map { String(cString: $0) } ?? "")</span>")
        gtk_label_set_text(details, text)
        secondsLeft = max(1, Int(again.components.seconds))
        showSeconds()
        timer?.cancel()
        timer = LoopSource.every(.seconds(1)) { [unowned self] in
            secondsLeft -= 1
            guard secondsLeft > 0 else {
                finish()
                return false
            }
            showSeconds()
            return true
        }
        gtk_widget_show_all(widget)
    }

    func takeFocus() { gtk_widget_grab_focus(button) }

    private func showSeconds() { gtk_button_set_label(cast(button), "Restart (\(secondsLeft))") }

    private func finish() {
        end()
        restart()
    }

    /// A page is there again: nothing is loaded any more.
    func end() {
        timer?.cancel()
        timer = nil
        text = nil
    }
}
