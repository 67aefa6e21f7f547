internal import Configuration
internal import JSON
internal import Linux

/// The output of procedures: lines in the journal, or on standard error.
final class ProcedureConsole {
    private var log: NamedLog
    private var bytes = 0
    /// The most bytes that one call may write.
    private static let maximumBytes = 64 << 10

    init(environment: [String: String]) { log = NamedLog("", environment: environment) }

    func begin(_ procedure: String) {
        // The journal must not contain any text that a caller sends as a name.
        log.name = "procedure \(ProcedureName.isName(procedure) ? procedure : "?")"
        bytes = 0
    }

    /// - Parameter level: `info`, `debug`, `warning` or `error`.
    func write(_ level: String, _ text: String) {
        guard bytes < Self.maximumBytes else { return }
        bytes += text.utf8.count
        log.write(
            level,
            bytes < Self.maximumBytes
                ? text : "more than \(Self.maximumBytes >> 10) KiB were written: the rest is left out"
        )
    }

    /// Writes an error in the form that the article on stored procedures uses.
    func write(_ error: ProcedureError) {
        guard error.place["stack"] != nil || error.place["line"] != nil else {
            return log.write("error", error.message)
        }
        let stack = error.place["stack"]?.stringValue ?? ""
        log.write(
            "error",
            "JS Error: \(error.message) in method \(stack) line number \(error.place["line"]?.text ?? "undefined")"
        )
    }
}
