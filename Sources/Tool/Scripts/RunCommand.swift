import ArgumentParser
import CommandLineText
import JSON
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

            Exit status: 0 the script ended, 1 an unhandled error, a limit that it exceeded, or a refused handler, 2 \
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
        noteSecond(file)
        let flags = [("--socket", socket), ("--config", config)].flatMap { flag, value in
            value.map { [flag, $0] } ?? []
        }
        try OwnPrograms.become("quickconnect-scripts", flags + words)
    }

    /// A script that is started twice does all that it hears twice, which is seldom meant.
    private func noteSecond(_ file: String) {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let patience = ContinuousClock.now + .seconds(1)
        let paths = SocketPaths.candidates(named: socket, environment: SocketPaths.environment)
        guard let daemon = try? SocketPaths.connect(paths, before: patience),
            case .success(let state)? = try? Client(daemon).call("state", message: nil, before: patience),
            let connections = state.objectValue?["connections"]?.arrayValue,
            connections.contains(where: { $0.objectValue?["program"]?.stringValue == name })
        else { return }
        note("\(name) runs already: from now on it does twice what it hears")
    }
}
