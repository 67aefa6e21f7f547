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
        throw ExitError(message: failure(name, errno), status: 1)
    }

    /// Why one of them could not be started; for a missing one, which package has it.
    /// - Parameter code: the `errno` of the attempt.
    static func failure(_ name: String, _ code: Int32) -> String {
        guard Program.isInstalled(name) else { return missing(name) }
        return "\(Program.installed(name)) cannot be run: \(SystemCallError.text(code))"
    }

    /// What is said of one that is not on this device.
    static func missing(_ name: String) -> String {
        "\(name) is not installed. Install the package \(package(of: name))."
    }

    /// The parts that are packages of their own; the other programs are with this one.
    private static func package(of name: String) -> String {
        switch name {
        case "quickconnect-kiosk", "quickconnect-mqtt", "quickconnect-web": name
        case "quickconnect-actions": "quickconnect-browser-actions"
        default: "quickconnect"
        }
    }
}
