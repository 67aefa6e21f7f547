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

    static var noScriptHost: String {
        let name = "quickconnect-scripts"
        return unavailable("the script host", of: name, unit: name, words: "--scripts DIR --macros DIR")
    }

    /// The same for a service by its unit; nil for the script host, of which a part may be missing while it runs.
    static func unavailable(_ unit: String) -> String? {
        switch unit {
        case "quickconnect-data":
            unavailable("the service of procedures", of: "quickconnect-scripts", unit: unit, words: "--procedures")
        case "quickconnect-mqtt": unavailable("the gateway for MQTT", of: unit, unit: unit, words: "")
        case "quickconnect-web": unavailable("the gateway for pages", of: unit, unit: unit, words: "")
        default: nil
        }
    }

    /// What to do about a service that does not answer: to start it, or to install what it runs.
    /// - Parameters:
    ///   - what: the service, in words.
    ///   - program: what it runs.
    ///   - unit: systemd's, where it is installed.
    ///   - words: the program's arguments where it is not.
    static func unavailable(_ what: String, of program: String, unit: String, words: String) -> String {
        guard Program.isInstalled(program) else { return "unavailable: \(Program.missing(program))" }
        let start = ServiceManager.start(unit) ?? [program, words].filter { !$0.isEmpty }.joined(separator: " ")
        return "unavailable: \(what) is not running; start it with «\(start)»"
    }
}
