import CommandLineText
import Glibc
import Linux

/// The programs that are installed with this one.
enum OwnPrograms {
    /// Replaces this process by one of them.
    static func become(_ name: String, _ arguments: [String]) throws(ExitError) {
        let program = Program.installed(name)
        var words = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        execvp(program, words)
        throw ExitError(message: failure(name, errno))
    }

    /// Ends the program if one of them is not installed.
    static func require(_ name: String) throws(ExitError) {
        if !Program.isInstalled(name) { throw ExitError(message: Program.missing(name)) }
    }

    /// Why one of them could not be started; for a missing one, which package has it.
    /// - Parameter code: the `errno` of the attempt.
    static func failure(_ name: String, _ code: Int32) -> String {
        guard Program.isInstalled(name) else { return Program.missing(name) }
        return "\(Program.installed(name)) cannot be run: \(SystemCallError.text(code))"
    }

    /// What to do about a service that does not answer: to start it, or to install what it runs.
    /// - Parameters:
    ///   - what: the service, in words.
    ///   - program: what it runs.
    ///   - start: what starts it.
    static func unavailable(_ what: String, of program: String, start: String) -> String {
        guard Program.isInstalled(program) else { return "unavailable: \(Program.missing(program))" }
        return "unavailable: \(what) is not running; start it with \(start)"
    }
}
