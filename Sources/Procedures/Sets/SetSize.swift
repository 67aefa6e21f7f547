internal import Configuration

/// The size of a set so far, limited to ``ProcedureSettings/setBytes``.
package struct SetSize: Sendable {
    private var bytes = 0

    package init() {}

    /// Adds a file's text. Throws if the set becomes too large.
    package mutating func add(_ text: String) throws(SetRefusal) {
        bytes += text.utf8.count
        guard bytes <= ProcedureSettings.setBytes else {
            throw SetRefusal(
                "its files have more than \(ProcedureSettings.setBytes >> 20) MiB together; a set has at most that"
            )
        }
    }
}
