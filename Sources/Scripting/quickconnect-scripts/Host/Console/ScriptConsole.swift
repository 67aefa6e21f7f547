internal import Glibc
internal import Linux

/// Where a script's console output and errors are written.
struct ScriptConsole: Sendable {
    /// In the foreground, `console.log` is the program's output. In the service, everything goes to the journal.
    enum Place: Sendable {
        case foreground
        case journal(NamedLog)
    }

    let place: Place

    /// - Parameter level: `info`, `debug`, `warning` or `error`.
    func write(_ level: String, _ text: String) {
        switch place {
        case .foreground:
            let isOutput = level == "info" || level == "debug"
            Descriptor.write("\(text)\n", to: isOutput ? STDOUT_FILENO : STDERR_FILENO)
        case .journal(let log): log.write(level, text, isEscaped: false)
        }
    }
}
