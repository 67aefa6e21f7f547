import CWebKit

/// A sentence shown at the bottom of the window for some seconds.
final class MessageBar {
    private static let time = Duration.seconds(6)

    let widget: UnsafeMutablePointer<GtkWidget>
    private let label: UnsafeMutablePointer<GtkWidget>
    private var timer: LoopSource?

    init?() {
        guard let bar = gtk_info_bar_new(), let label = gtk_label_new(nil) else { return nil }
        (widget, self.label) = (bar, label)
        gtk_label_set_line_wrap(cast(label), 1)
        gtk_container_add(cast(gtk_info_bar_get_content_area(cast(bar))), label)
        gtk_widget_show(label)
        gtk_widget_set_no_show_all(bar, 1)
    }

    func show(_ text: String) {
        gtk_label_set_text(cast(label), text)
        gtk_widget_show(widget)
        timer?.cancel()
        timer = LoopSource.after(Self.time) { [weak self] in
            guard let self else { return }
            gtk_widget_hide(widget)
        }
    }
}
