import ArgumentParser
import CommandLineText
import Configuration
import JSON
import Linux

struct CallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Makes a call and prints its answer as JSON.",
        usage: "quickconnect call [--socket <PATH>] [--timeout <SECONDS>] [--json] COMMAND [ARGUMENT ...]",
        discussion: """
            Options come before COMMAND; everything after it is an argument, even if it begins with a dash. Without \
            an argument, no message is sent; a single argument is sent unchanged, and '' as an empty text; several \
            become a JSON array, in which an argument that is JSON stays JSON and any other becomes a string.

            With --json an error is also a line of JSON, on standard error.

            Examples:
              quickconnect call playSound 0
              quickconnect call playSound -1
              quickconnect call post doorbell '{"door": "front"}'
              quickconnect call --timeout 2.5 hello
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print errors as JSON, for programs.")
    var json = false

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The command, and its arguments.", valueName: "COMMAND [ARGUMENT…]"),
        completion: Completion.call
    )
    var words: [String] = []

    func run() throws {
        let command = try first(of: words, "COMMAND")
        let arguments = Array(words.dropFirst())
        if let hint = CallArguments.note(arguments, of: command) { note(hint) }
        do {
            let result = try connection.result(of: command, message: CallArguments.message(arguments))
            let answer = try result.mapError { json ? ExitError($0) : connection.failure($0) }.get()
            say(answer.text)
            if arguments == ["run"], let code = answer.objectValue?["result"]?.stringValue, code != "ok" {
                noteFailure(of: command, code)
            }
            if command == "reload", !json {
                let keys = answer.objectValue?["restart"]?.arrayValue?.compactMap(\.stringValue)
                for sentence in Settings.restarts(for: keys ?? []) { note(sentence) }
            }
            if command == "post", let name = CallArguments.firstText(arguments) { noteUnknown(name) }
        } catch var end as ExitError {
            if json { throw end.asJSON }
            if let remedy = CallArguments.remedy(arguments, of: command, error: end) { end.message += "\n" + remedy }
            if let pattern = CallArguments.pattern(arguments, of: command, error: end),
                (try? connection.explained(command))?["value"]?.objectValue?["type"] == "boolean"
            {
                end.message += "\n" + pattern
            }
            if let array = CallArguments.array(
                arguments,
                of: command,
                error: end,
                explain: { (try? connection.explained(command)) ?? nil }
            ) {
                end.message += "\n" + array
            }
            if end.code == "unavailable", end.message.contains("no client has registered the handler") {
                end.message +=
                    "\n«quickconnect scripts» shows the scripts of the service, «quickconnect call state» all handlers"
            }
            throw end
        }
    }

    /// A schedule answers only the code of the error of its call.
    private func noteFailure(of schedule: String, _ code: String) {
        guard let call = (try? connection.explained(schedule))?["schedule"]?.objectValue?["call"]?.arrayValue,
            let command = call.first?.stringValue,
            let error = (try? connection.explained(command))?["lastError"]?.objectValue,
            error["code"]?.stringValue == code, let message = error["message"]?.stringValue
        else { return }
        let place = error["place"]?.stringValue.map { " (\($0))" } ?? ""
        note("\(command): \(message)\(place)".escapingControls)
    }

    /// Any name may be posted; one that is nearly that of an event may be a typo.
    private func noteUnknown(_ name: String) {
        guard let answer = try? connection.result(of: "state", message: nil), case .success(let state) = answer,
            let question = KnownEvents(state)?.question(of: name), !question.isEmpty
        else { return }
        note("nothing declares '\(name.escapingControls)'\(question)")
    }
}
