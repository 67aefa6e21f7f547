package import ArgumentParser
internal import Glibc
internal import Linux

extension ParsableArguments {
    /// Ends the program as its words ask: help and version go to standard output; what is wrong with them, and their
    /// usage, to standard error, with the program's name before it as before all that it says; the status is 2.
    /// - Parameter command: the subcommand that ran, of whose usage a mistake is.
    package static func end(_ error: any Error, of program: String, in command: (any ParsableCommand.Type)? = nil)
        -> Never
    {
        let isSuccess = exitCode(for: error).isSuccess
        let message = usageMistake(error, command) ?? fullMessage(for: error)
        let own = message.hasPrefix("Error: ") ? "\(program): \(message.dropFirst(7))" : message
        Descriptor.write("\(own)\n", to: isSuccess ? STDOUT_FILENO : STDERR_FILENO)
        Glibc.exit(isSuccess ? 0 : 2)
    }

    /// A mistake that a subcommand found when it ran: the parser knows only the program then.
    private static func usageMistake(_ error: any Error, _ command: (any ParsableCommand.Type)?) -> String? {
        guard let mistake = error as? ValidationError, let command, let root = self as? any ParsableCommand.Type,
            let names = path(to: command, from: root)
        else { return nil }
        let usage = root.usageString(for: command).replacing("\n", with: "\n       ")
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
