import CWebKit

/// The page's alert, confirm and prompt, as dialogs of the window. The page waits for the answer, the window does not.
final class Dialogs {
    private let parent: UnsafeMutablePointer<GtkWidget>
    private let isAutomated: Bool
    private let takesKey: OpenDialog.TakesKey
    private var open: OpenDialog?
    /// When a page last opened a dialog.
    private(set) var lastAsked: ContinuousClock.Instant?

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
        let asked: @convention(c) (UnsafeMutableRawPointer, OpaquePointer, UnsafeMutableRawPointer) -> gboolean = {
            _,
            dialog,
            data in
            let dialogs: Dialogs = owner(data)
            return dialogs.ask(dialog) ? 1 : 0
        }
        connect(view.view, "script-dialog", unsafeBitCast(asked, to: GCallback.self), self)
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
        close()
        let ended: () -> Void = { [weak self] in self?.open = nil }
        guard let window = OpenDialog(dialog, parent, takesKey, ended: ended) else { return false }
        open = window
        return true
    }
}
