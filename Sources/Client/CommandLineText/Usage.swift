package import ArgumentParser
internal import Configuration
internal import Glibc
internal import Linux
internal import QuickConnect

extension ParsableCommand {
    private static var program: String { configuration.commandName ?? "" }

    /// Runs what the program's words ask for. An error ends the program: an ``ExitError`` as that says, all others as
    /// ``end(_:in:)`` does.
    /// - Parameter arguments: the words, without the program; nil: those of this process.
    package static func start(_ arguments: () throws -> [String]? = { nil }) {
        var running: (any ParsableCommand.Type)?
        do {
            var command = try parseAsRoot(arguments())
            running = type(of: command)
            try command.run()
        } catch let end as ExitError {
            end.exit(of: program)
        } catch {
            end(error, in: running)
        }
    }

    /// Ends the program as its words ask: help and version go to standard output; what is wrong with them, and their
    /// usage, or with the settings, to standard error, with the program's name before it as before all that it says; the
    /// status is 2.
    /// - Parameter command: the subcommand that ran, of whose usage a mistake is.
    package static func end(_ error: any Error, in command: (any ParsableCommand.Type)? = nil) -> Never {
        let isSuccess = exitCode(for: error).isSuccess
        let settings = (error as? ConfigurationMistakes).map { "Error: \($0.lines)" }
        let message = settings ?? usageMistake(error, command) ?? fullMessage(for: error)
        let own = message.hasPrefix("Error: ") ? "\(program): \(message.dropFirst(7))" : message
        Descriptor.write("\(own)\n", to: isSuccess ? STDOUT_FILENO : STDERR_FILENO)
        Glibc.exit(isSuccess ? 0 : 2)
    }

    /// A mistake that a subcommand found when it ran: the parser knows only the program then.
    private static func usageMistake(_ error: any Error, _ command: (any ParsableCommand.Type)?) -> String? {
        guard let mistake = error as? ValidationError, let command, let names = path(to: command, from: self) else {
            return nil
        }
        let usage = usageString(for: command).replacing("\n", with: "\n       ")
        return
            "Error: \(mistake.message)\nUsage: \(usage)\n  See '\(names.joined(separator: " ")) --help' for more information."
    }

    /// What is typed for a subcommand.
    private static func path(to command: any ParsableCommand.Type, from root: any ParsableCommand.Type) -> [String]? {
        let name = root.configuration.commandName ?? ""
        if root == command { return [name] }
        for next in root.configuration.subcommands {
            if let rest = path(to: command, from: next) { return [name] + rest }
        }
        return nil
    }
}
