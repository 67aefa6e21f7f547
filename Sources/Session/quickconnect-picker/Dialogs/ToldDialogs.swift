import JSON
import QuickConnect
import QuickConnectClient

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
