import ArgumentParser
import CommandLineText
import Fleet
import Glibc
import JSON
import Linux
import MQTT
import QuickConnectClient

struct RemoteCallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Calls a remote device, or each device of a group, and prints the answer.",
        usage: "quickconnect-mqtt call --device <NAME> [<options>] COMMAND [ARGUMENT ...]",
        discussion: """
            Options come before COMMAND; everything after it is an argument, as for «quickconnect call». For a group \
            there is a line for each device, and on standard error the members that are away and a summary. The broker \
            keeps a call for 10 seconds (or for --timeout, if that is shorter) for a device that is away. --json gives a line \
            {"device", "value"}, {"device", "error"} or {"device", "away": true} for each.

            Exit status: 0 a result from each that is online, also if others are away, 1 an error reply, 2 wrong usage, 3 no \
            broker, or no device online, 4 no answer in time.
            """
    )

    @OptionGroup var options: FleetOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The command, and its arguments.", valueName: "COMMAND [ARGUMENT…]")
    )
    var words: [String] = []

    func run() throws {
        guard let command = words.first, !command.isEmpty else { throw ValidationError("COMMAND is missing.") }
        if command == "--help" || command == "-h" { throw CleanExit.helpRequest(self) }
        guard !command.hasPrefix("-") else { throw ValidationError("Unknown option '\(command)'.") }
        let call = RemoteCall(
            options: options,
            command: command,
            payload: CallArguments.message(Array(words.dropFirst()))
        )
        switch options.target {
        case .device: say(try call.value().text)
        case .group: try GroupAnswers(isJSON: options.json).show(call) { $0.text }
        }
    }
}

/// The answers of a group: a line for each, and a summary.
struct GroupAnswers {
    let isJSON: Bool

    /// - Parameter words: what a line says of a result.
    func show(_ call: RemoteCall, _ words: @escaping (JSONValue) -> String) throws {
        let answers = try call.run { device, reply in say(line(device, reply, words)) }
        if isJSON {
            for device in answers.away.sorted() {
                say(JSONValue.object(["device": .string(device), "away": true]).text)
            }
        }
        if !answers.away.isEmpty {
            // The line that programs look for stays as it is.
            let kept = isatty(STDERR_FILENO) == 1 ? "; \(RemoteCall.kept(answers.expirySeconds))" : ""
            write("away: \(RemoteCall.names(answers.away))\(kept)\n", to: STDERR_FILENO)
        }
        write("\(Self.summary(answers))\n", to: STDERR_FILENO)
        if answers.expected == 0 {
            throw ExitError(message: "no device of \(call.options.device) is online", status: 3)
        }
        if !answers.missing.isEmpty { throw RemoteCall.silence(answers) }
        if answers.errors > 0 { throw ExitError.refused }
    }

    private func line(_ device: String, _ reply: FleetReply, _ words: (JSONValue) -> String) -> String {
        switch (reply, isJSON) {
        case (.result(let value, _), true): return JSONValue.object(["device": .string(device), "value": value]).text
        case (.error(let error), true):
            return JSONValue.object(["device": .string(device), "error": .object(error)]).text
        case (.result(let value, _), false): return "\(device)  \(words(value))"
        case (.error(let error), false):
            return "\(device)  \(CallFailure.refused(ErrorReply(.object(error))))".escapingControls
        }
    }

    private static func summary(_ answers: ExpectedAnswers) -> String {
        let devices = answers.expected == 1 ? "1 device" : "\(answers.expected) devices"
        var parts = ["\(answers.results) done"]
        if answers.errors > 0 { parts.append("\(answers.errors) refused") }
        if !answers.missing.isEmpty { parts.append("\(answers.missing.count) silent") }
        return "\(devices): \(parts.joined(separator: ", "))"
    }
}
