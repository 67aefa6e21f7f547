public import ArgumentParser
internal import Glibc
internal import Linux

extension ParsableArguments {
    /// Ends the program as its words ask: help and version go to standard output; what is wrong with them, and their
    /// usage, to standard error, with the program's name before it as before all that it says; the status is 2.
    public static func end(_ error: any Error, of program: String) -> Never {
        let isSuccess = exitCode(for: error).isSuccess
        let message = fullMessage(for: error)
        let own = message.hasPrefix("Error: ") ? "\(program): \(message.dropFirst(7))" : message
        Descriptor.write("\(own)\n", to: isSuccess ? STDOUT_FILENO : STDERR_FILENO)
        Glibc.exit(isSuccess ? 0 : 2)
    }
}
