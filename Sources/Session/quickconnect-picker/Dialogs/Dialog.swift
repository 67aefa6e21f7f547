import Concurrency
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
    private struct Open {
        let command: String
        /// Settled when its call is cancelled: it is about to close.
        let cancellation: Deferred<Void, Interruption>?
        let closed = Promise<Void>()
    }

    private let shower: any DialogShower
    private let open = Mutex<Open?>(nil)

    init(_ shower: any DialogShower) { self.shower = shower }

    /// Throws ``HandlerCall/Failure``: `busy` if a dialog is open already. One whose call was cancelled is waited for.
    func ask(_ dialog: Dialog, for command: String) async throws -> [JSONValue] {
        let own = Open(command: command, cancellation: HandlerCall.cancellation)
        while let other = take(own) {
            guard other.cancellation?.isSettled ?? false else {
                let message = "another dialog is open on this display, of the command \(other.command)"
                throw HandlerCall.Failure(.busy, message)
            }
            try? await other.closed.value()
        }
        defer {
            open.withLock { $0 = nil }
            own.closed.fulfil(())
        }
        return try await shower.show(dialog)
    }

    /// Takes the display, unless another one has it.
    private func take(_ own: Open) -> Open? {
        open.withLock { open in
            defer { open = open ?? own }
            return open
        }
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
