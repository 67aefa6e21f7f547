import JSON
import QuickConnect
import QuickConnectClient

/// `notify [text, {title}]`: shows a notification of the desktop; null.
struct NotifyCommand: SessionCommand {
    /// nil: a desktop that shows nothing.
    let programs: ScreenProgram?
    let name = "notify"
    let atOnce = 4

    func answer(_ call: HandlerCall, _: DeviceClient) async throws -> HandlerCall.Answer {
        guard let text = call.parameters.first?.stringValue, !text.isEmpty else {
            throw HandlerCall.Failure.expected("text", at: "/0", got: call.parameters.first)
        }
        let title = call.parameters.dropFirst().first?.objectValue?["title"]?.stringValue
        // Only the text below a title may have markup, and escapes of C.
        let words = title.map { [$0, text.withoutMarkup.replacing("\\", with: "\\\\")] } ?? [text]
        do throws(ScreenFailure) {
            _ = try await programs?.run(
                "notify-send",
                ["--app-name=QuickConnect", "--"] + words,
                package: "libnotify-bin"
            )
        } catch {
            throw HandlerCall.Failure(.unavailable, "nothing can be shown: \(error)")
        }
        return HandlerCall.Answer(.null)
    }
}
