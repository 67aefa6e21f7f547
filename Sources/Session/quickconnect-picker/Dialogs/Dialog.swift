import JSON
import QuickConnect
import QuickConnectClient

/// What is asked, how programs show it, and what their answers mean.
struct Dialog: Sendable {
    /// How one program shows it.
    struct Way: Sendable {
        let program: String
        let arguments: [String]
        /// What the program prints, as the text that ``Dialog/results`` reads; nil if it cannot be read.
        var text: @Sendable (String) -> String? = { $0 }
    }

    /// The best first. The first whose program is installed is taken.
    let ways: [Way]
    /// What it begins with, as a text.
    let preset: String
    /// The results for a text: those of `showPickResults`, the text for people first. Nil if the text is not a valid
    /// answer; then the dialog is shown again.
    let results: @Sendable (String) -> [JSONValue]?
}

/// Shows dialogs, or stands for what does.
protocol DialogShower: Sendable {
    /// Shows a dialog until it is answered, and returns its results. Throws ``HandlerCall/Failure``: `cancelled` if the
    /// person cancels. If the task is cancelled, it closes the dialog.
    func show(_ dialog: Dialog) async throws -> [JSONValue]

    /// Returns why nothing can be shown any more, once that is so; nil if the task is cancelled.
    func displayIsGone() async -> String?
}

extension HandlerCall.Failure {
    static var closed: HandlerCall.Failure {
        HandlerCall.Failure(.cancelled, "the dialog was closed without an answer")
    }
}
