import ArgumentParser
import Glibc
import Linux
import QuickConnectClient

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a script in the foreground.",
        usage: "quickconnect run [--socket <PATH>] [--config <FILE>] FILE.js [ARGUMENT ...]",
        discussion: """
            Options stand before FILE; everything behind it is the script's. The script ends when nothing is left to \
            wait for. Its console is printed: warnings and errors to standard error.

            A script may begin with «#!/usr/bin/env -S quickconnect run».

            Exit status: 0 the script has ended, 1 an error that it did not handle, or a limit that it passed, 2 \
            wrong usage or an unreadable file, 3 it made a call and no daemon answers.

            Examples:
              quickconnect run bell.js
              quickconnect run clock.js --every 15
            """
    )

    @Option(help: ArgumentHelp("\(SocketPaths.help)", valueName: "PATH"))
    var socket: String?

    @Option(help: ArgumentHelp("The settings file, for the limits of scripts.", valueName: "FILE"))
    var config: String?

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The script, and its arguments.", valueName: "FILE.js [ARGUMENT…]"),
        completion: .file(extensions: ["js"])
    )
    var words: [String] = []

    /// Becomes the script host's program, which links the JavaScript engine; this one does not.
    func run() throws {
        guard let file = words.first, !file.isEmpty else { throw ValidationError("FILE.js is missing.") }
        if file == "--help" || file == "-h" { throw CleanExit.helpRequest(self) }
        guard !file.hasPrefix("-") else { throw ValidationError("Unknown option '\(file)'.") }
        let program = OwnPrograms.path("quickconnect-scripts")
        let flags = [("--socket", socket), ("--config", config)].flatMap { flag, value in
            value.map { [flag, $0] } ?? []
        }
        var arguments = ([program] + flags + words).map { strdup($0) }
        arguments.append(nil)
        execvp(program, arguments)
        throw End(message: "\(program) cannot be run: \(SystemCallError.text(errno))", status: 1)
    }
}
