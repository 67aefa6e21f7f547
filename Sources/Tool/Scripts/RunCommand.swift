import ArgumentParser
import CommandLineText
import QuickConnectClient

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a script in the foreground.",
        usage: "quickconnect run [--socket <PATH>] [--config <FILE>] FILE.js [ARGUMENT ...]",
        discussion: """
            Options come before FILE; everything after it is an argument of the script. The script ends when it has nothing \
            left to wait for. Its console goes to standard output, warnings and errors to standard error.

            A script may begin with «#!/usr/bin/env -S quickconnect run».

            Exit status: 0 the script ended, 1 an unhandled error, or a limit that it exceeded, 2 \
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

    /// Replaces this process by the script host's program, which has the JavaScript engine.
    func run() throws {
        let file = try first(of: words, "FILE.js")
        if let hint = CallArguments.misplaced(["--socket"], Array(words.dropFirst()), of: file) { note(hint) }
        let flags = [("--socket", socket), ("--config", config)].flatMap { flag, value in
            value.map { [flag, $0] } ?? []
        }
        try OwnPrograms.become("quickconnect-scripts", flags + words)
    }
}
