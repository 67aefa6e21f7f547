import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// `notify [text, {title}]`: shows a notification of the desktop; null.
struct NotifyCommand: SessionCommand {
    /// nil: a desktop that shows nothing.
    let programs: ScreenProgram?
    let name = "notify"
    let atOnce = 4

    func answer(_ call: HandlerCall, _: DeviceClient) async throws -> HandlerCall.Answer {
        let title = call.parameters.dropFirst().first?.objectValue?["title"]?.stringValue
        // An argument of a program ends at a NUL.
        guard let text = call.parameters.first?.stringValue, text.contains(where: { !$0.isWhitespace }),
            !"\(text)\(title ?? "")".unicodeScalars.contains("\0")
        else { throw HandlerCall.Failure.expected("text, without NUL", at: "/0", got: call.parameters.first) }
        // Only the text below a title may have markup, and escapes of C.
        let words = title.map { [$0, text.withoutMarkup.replacing("\\", with: "\\\\")] } ?? [text]
        do throws(PlainError) {
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
