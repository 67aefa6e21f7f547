import JSON
import QuickConnect
import QuickConnectClient
import Synchronization

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

/// Shows one dialog at a time.
final class DialogQueue: Sendable {
    private let shower: any DialogShower
    /// The command whose dialog is open.
    private let open = Mutex<String?>(nil)

    init(_ shower: any DialogShower) { self.shower = shower }

    /// Throws ``HandlerCall/Failure``: `busy` if a dialog is open already.
    func ask(_ dialog: Dialog, for command: String) async throws -> [JSONValue] {
        let other = open.withLock { open -> String? in
            defer { open = open ?? command }
            return open
        }
        if let other {
            throw HandlerCall.Failure(.busy, "another dialog is open on this display, of the command \(other)")
        }
        defer { open.withLock { $0 = nil } }
        return try await shower.show(dialog)
    }

    func displayIsGone() async -> String? { await shower.displayIsGone() }
}

/// Shows nothing and gives a fixed answer: for tests, and for machines without a display.
struct ToldDialogs: DialogShower {
    /// Nil: the preset of each dialog. Empty: cancel.
    let answer: String?

    func show(_ dialog: Dialog) async throws -> [JSONValue] {
        let text = answer ?? dialog.preset
        guard !text.isEmpty else { throw HandlerCall.Failure.closed }
        guard let results = dialog.results(text) else {
            throw HandlerCall.Failure(
                .unavailable,
                "the simulated picker was told «\(text)», which is not an answer"
            )
        }
        return results
    }

    func displayIsGone() async -> String? {
        // Nothing is shown, so nothing can go.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        return nil
    }
}
