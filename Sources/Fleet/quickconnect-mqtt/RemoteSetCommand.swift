import ArgumentParser
import CommandLineText
import Fleet
import JSON

struct RemoteSetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets a value of a remote device, or of each device of a group, and prints what it became.",
        usage: "quickconnect-mqtt set --device <NAME> [<options>] NAME VALUE ...",
        discussion: """
            Options come before NAME. VALUE is read as by «quickconnect set», by the type that the device declares: it is asked \
            with «explain». Where it does not answer that, VALUE is JSON, and any other text is a string.

            Exit status: as of «call».
            """
    )

    @OptionGroup var options: FleetOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The value, and what it becomes.", valueName: "NAME VALUE…")
    )
    var words: [String] = []

    func run() throws {
        if words.first == "--help" || words.first == "-h" { throw CleanExit.helpRequest(self) }
        let (name, texts) = try SetArguments.parts(words)
        let words = ["quickconnect", "--device", options.device, "call", name]
        let new = try SetArguments.value(of: texts, as: try type(of: name), call: words)
        let call = RemoteCall(options: options, command: name, payload: JSONValue.array([new]).text)
        switch options.target {
        case .device: say(try call.value().text)
        case .group: try GroupAnswers(isJSON: options.json).show(call) { $0.text }
        }
    }

    /// The type that is declared; nil if no device says it.
    private func type(of name: String) throws -> String? {
        var types: Set<String> = []
        var stranger: JSONObject?
        let question = RemoteCall(options: options, command: "explain", payload: JSONValue.array([.string(name)]).text)
        _ = try question.run { _, reply in
            guard case .result(let answer, _) = reply else { return }
            let value = answer.objectValue?["value"]?.objectValue
            if let type = value?["type"]?.stringValue { types.insert(type) }
            if value == nil { stranger = answer.objectValue ?? [:] }
        }
        if let stranger {
            let message = SetArguments.noValue(words, stranger, tool: ["quickconnect", "--device", options.device])
            throw ExitError(message: message, status: ExitError.usageStatus)
        }
        guard types.count < 2 else {
            let all = types.sorted().joined(separator: " and ")
            let message = "the devices of \(options.device) declare '\(name)' as \(all): set it on each of them"
            throw ExitError(message: message, status: ExitError.usageStatus)
        }
        return types.first
    }
}
