import ArgumentParser
import CommandLineText
import Glibc
import Linux
import QuickConnect

/// The client. Subcommands that belong together stand in one file.
@main
struct QuickConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect",
        abstract: "Drives this device's hardware through the daemon quickconnectd.",
        discussion: """
            Examples:
              quickconnect call playSound 0            play the laser
              quickconnect call logMessage 'it works'  write to the journal
              quickconnect set innerProgress 4.5       set a value of the device
              quickconnect list                        list the commands
              quickconnect explain playSound           describe one command, its parameters and rules
              quickconnect types --python              print typed functions for programs
              quickconnect events accel                print a sensor's values
              quickconnect doctor                      check each part, and show how to fix it
              quickconnect new script bell             make a script, with a test, in the folder bell
              quickconnect run bell.js                 run a script
              quickconnect scripts                     list the scripts and their state
              quickconnect macro run addInner          run a macro
              quickconnect procedure run hasEntries 2026-11-21 2026-11-22
              quickconnect data info                   show the recorded data
              quickconnect media put bell.wav          send a file to the media folder
              quickconnect web open                    print an address that logs a browser in
              quickconnect action list                 list the actions for pages
              quickconnect fleet                       list the devices at the broker
              sudo quickconnect setup home             set up pages for the people at home
              quickconnect --device kiosk1 call playSound 0
              quickconnect simulate tilt 30 0          move a simulated sensor
              makecall playSound 0                     short for quickconnect call, where it is installed

            Exit status: 0 a result, 1 an error reply, 2 wrong usage, 3 no daemon or connection lost, 4 no answer in \
            time, 5 the output cannot be written.
            """,
        version: ProjectVersion.text,
        subcommands: [
            CallCommand.self, SetCommand.self, AddCommand.self, ListCommand.self, ExplainCommand.self,
            EventsCommand.self,
            CanCommand.self, TypesCommand.self,
            DoctorCommand.self, NewCommand.self, RunCommand.self, ScriptsCommand.self, MacroCommand.self,
            ProcedureCommand.self,
            DataCommand.self, MediaCommand.self, WebCommand.self, ActionCommand.self, FleetCommand.self,
            SchedulesCommand.self, HardwareCommand.self, SimulateCommand.self, SetupCommand.self, BackupCommand.self,
            RestoreCommand.self,
        ]
    )

    @Option(
        help: ArgumentHelp(
            "A remote device, through the broker in the settings, or group:NAME for a group. Comes before the command.",
            valueName: "NAME"
        )
    )
    var device: String?

    static func main() {
        signal(SIGPIPE, SIG_DFL)
        var arguments = Array(CommandLine.arguments.dropFirst())
        if CommandLine.arguments.first?.split(separator: "/").last == "makecall", arguments.first != "---completion" {
            arguments.insert("call", at: 0)
        }
        start {
            arguments = try withDeviceInFront(arguments)
            try RemoteArguments(arguments)?.become()
            arguments = withOptionsBehindCommand(arguments)
            try refuseUnknownSubcommand(arguments)
            return arguments
        }
    }
}

extension QuickConnectCommand {
    /// `--device` may also stand among the options right behind the command: `quickconnect call --device NAME ping`.
    private static func withDeviceInFront(_ arguments: [String]) throws -> [String] {
        guard let command = arguments.first, !command.hasPrefix("-") else { return arguments }
        var (options, rest) = ([String](), arguments.dropFirst())
        while let word = rest.first, RemoteArguments.isOption(word) {
            let count = word.contains("=") || word == "--json" ? 1 : 2
            guard rest.count >= count || word != "--device" else { throw RemoteArguments.noName }
            options += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        guard options.contains(where: { $0.prefix { $0 != "=" } == "--device" }) else { return arguments }
        return options + [command] + rest
    }

    /// The options of every connection may also come before the command; they belong to the innermost subcommand.
    private static func withOptionsBehindCommand(_ arguments: [String]) -> [String] {
        var (options, rest, words): ([String], ArraySlice<String>, [String]) = ([], arguments[...], [])
        while let word = rest.first, ["--socket", "--timeout"].contains(word.prefix { $0 != "=" }) {
            options.append(rest.removeFirst())
            if !word.contains("="), let value = rest.popFirst() { options.append(value) }
        }
        guard !options.isEmpty else { return arguments }
        var known = configuration.subcommands
        while let word = rest.first, let next = known.first(where: { $0.configuration.commandName == word }) {
            words.append(rest.removeFirst())
            known = next.configuration.subcommands
        }
        // A word that is no subcommand is told as such.
        if words.isEmpty, let word = rest.first, !word.hasPrefix("-") { return Array(rest) }
        return words + options + rest
    }

    /// A word that is not a subcommand is probably a command of the daemon; behind one that has subcommands it is probably
    /// one of those.
    private static func refuseUnknownSubcommand(_ arguments: [String]) throws {
        var (path, command): ([String], any ParsableCommand.Type) = (["quickconnect"], self)
        for word in arguments {
            let known = command.configuration.subcommands.compactMap { $0.configuration.commandName }
            guard !known.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
            guard let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
            else { throw unknown(word, behind: path, known, arguments) }
            (path, command) = (path + [word], next)
        }
    }

    private static func unknown(
        _ word: String,
        behind path: [String],
        _ known: [String],
        _ arguments: [String]
    ) -> ExitError {
        var near = NearestNames.question(word, among: known)
        let call = (["quickconnect", "call"] + arguments).map(\.shellWord).joined(separator: " ")
        guard path.count == 1 else {
            // A verb of the daemon's command, where the tool has one that people mean.
            if arguments.starts(with: ["macro", "save"]) {
                let edit = ["quickconnect", "macro", "edit", arguments.dropFirst(2).first ?? "NAME"].map(\.shellWord)
                near = "; did you mean «\(call)», or «\(edit.joined(separator: " "))»?"
            }
            if near.isEmpty { near = ": it has \(known.joined(separator: ", "))" }
            let message = "there is no subcommand '\(word)' of «\(path.joined(separator: " "))»\(near)"
            return ExitError(message: message, status: ExitError.usageStatus)
        }
        // The one command of the daemon that every owner types.
        if near.isEmpty, word != "reload", !NearestNames.find(word, among: ["reload"]).isEmpty {
            near = ", did you mean «quickconnect call reload»?"
        }
        let question = near.isEmpty ? "; did you mean «\(call)»?" : "\(near) To call the daemon: «\(call)»."
        return ExitError(message: "there is no subcommand '\(word)'\(question)", status: ExitError.usageStatus)
    }
}
