internal import Glibc
internal import Linux

/// Where a script's console output and errors are written.
struct ScriptConsole: Sendable {
    /// In the foreground, `console.log` is the program's output. In the service, everything goes to the journal.
    enum Place: Sendable {
        case foreground
        case journal(name: String, hasLevels: Bool)
    }

    let place: Place

    /// - Parameter level: `info`, `debug`, `warning` or `error`.
    func write(_ level: String, _ text: String) {
        switch place {
        case .foreground:
            let isOutput = level == "info" || level == "debug"
            Descriptor.write("\(text)\n", to: isOutput ? STDOUT_FILENO : STDERR_FILENO)
        case .journal(let name, let hasLevels):
            let prefix = hasLevels ? "<\(Self.number(of: level))>" : ""
            // One entry for each line, because the journal stores lines.
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
                "\(prefix)\(name): \($0)\n"
            }
            Descriptor.write(lines.joined(), to: STDERR_FILENO)
        }
    }

    /// The priorities of sd-daemon(3).
    private static func number(of level: String) -> Int {
        switch level {
        case "error": 3
        case "warning": 4
        case "debug": 7
        default: 6
        }
    }
}
