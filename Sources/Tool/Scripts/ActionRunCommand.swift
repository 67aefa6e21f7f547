import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct ActionRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs an action in the page that the window shows, and waits until it ends.",
        discussion: """
            If the action has an editor, it waits until the user presses Done or Cancel. It prints the result: a text, or the \
            title and address of the page.
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: "The action.", completion: .custom { _, _, _ in ActionNames.forCompletion() })
    var name: String

    func run() throws {
        let deadline = connection.deadline
        let client = try connection.connect(before: deadline)
        do {
            switch try client.call("action", ["run", .string(name)], before: deadline) {
            case .success(let answer): say(json ? answer.text : Self.words(answer.objectValue ?? [:]))
            case .failure(let error): throw Self.end(error)
            }
        } catch let failure as ClientFailure {
            throw ExitError(failure)
        }
    }

    private static func words(_ answer: JSONObject) -> String {
        let results = answer["NSExtensionJavaScriptPreprocessingResultsKey"]?.objectValue ?? [:]
        if let text = results["text"]?.stringValue { return text }
        let page = ["title", "URL"].compactMap { results[$0]?.stringValue }.filter { !$0.isEmpty }
        return page.isEmpty ? "Done." : "Done: \(page.joined(separator: ", "))"
    }

    private static func end(_ error: ErrorReply) -> ExitError {
        var end = ExitError(error)
        if end.code == "unavailable", error.message.contains("no client has registered") {
            let fix =
                Program.isInstalled("quickconnect-kiosk")
                ? "no window is open; start it with «quickconnect-kiosk»" : OwnPrograms.missing("quickconnect-kiosk")
            end.message = "unavailable: \(fix)"
        }
        // An action's `source` says whether Action.js or a typed script failed; the line is `text`.
        var members = error.members
        members["file"] = members["file"] ?? members["source"]
        members["source"] = members["text"]
        let place = MacroPlace(members).text
        if !place.isEmpty { end.message += "\n\(place)" }
        return end
    }
}
