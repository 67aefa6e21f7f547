import ArgumentParser
import Glibc
import Linux

/// The client. Each subcommand is one file.
@main
struct QuickConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickconnect",
        abstract: "Drives this device's hardware through the daemon quickconnectd.",
        discussion: """
            Examples:
              quickconnect call playSound 0            play the laser
              quickconnect call logMessage 'it works'  write to the journal
              quickconnect list                        what can be called
              quickconnect explain playSound           one command, with its parameters and rules
              quickconnect events accel                print a sensor's values
              quickconnect doctor                      does each device work, and what would mend it?
              quickconnect run bell.js                 run a script
              quickconnect scripts                     what the script host's scripts do
              quickconnect macro run addInner          run a macro
              quickconnect procedure run hasEntries 2026-11-21 2026-11-22
              quickconnect data info                   what is recorded for procedures
              quickconnect media put bell.wav          send a file to the media folder
              quickconnect web open                    let a browser into the pages of this device
              makecall playSound 0                     short for quickconnect call

            Exit status: 0 a result, 1 an error reply, 2 wrong usage, 3 no daemon or connection lost, 4 no answer in \
            time.
            """,
        version: "0.1.0",
        subcommands: [
            CallCommand.self, ListCommand.self, ExplainCommand.self, EventsCommand.self, CanCommand.self,
            DoctorCommand.self, RunCommand.self, ScriptsCommand.self, MacroCommand.self, ProcedureCommand.self,
            DataCommand.self, MediaCommand.self, WebCommand.self,
        ]
    )

    static func main() {
        signal(SIGPIPE, SIG_DFL)
        var arguments = Array(CommandLine.arguments.dropFirst())
        if CommandLine.arguments.first?.split(separator: "/").last == "makecall" { arguments.insert("call", at: 0) }
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let end as End {
            end.exit()
        } catch {
            let isSuccess = exitCode(for: error).isSuccess
            write(fullMessage(for: error) + "\n", to: isSuccess ? STDOUT_FILENO : STDERR_FILENO)
            Glibc.exit(isSuccess ? 0 : End.usageStatus)
        }
    }
}

/// Writes text, or ends quietly where nobody reads any more.
func write(_ text: String, to descriptor: Int32) {
    switch Descriptor.write(text, to: descriptor) {
    case 0: break
    case EPIPE: exit(0)
    default: exit(3)
    }
}

func say(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
