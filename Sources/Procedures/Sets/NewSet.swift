internal import Configuration
internal import Glibc
internal import JSON
package import Linux

/// A set that is being written. It is deleted with this object, unless it was finished.
package final class NewSet {
    private let sets: String
    /// Where its files are.
    package private(set) var folder: String
    private var isFinished = false

    static let prefix = ".new-"
    /// The other user, in the group, may read, unless the process's umask forbids it.
    private static let mode: mode_t = 0o640

    init(in sets: String) throws(SystemCallError) {
        self.sets = sets
        folder = "\(sets)/\(Self.prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try Folders.make("\(folder)/lib")
    }

    deinit {
        if !isFinished { SetStore.remove(folder) }
    }

    /// Adds a file of a procedure.
    package func add(_ name: String, _ text: String) throws(SystemCallError) {
        guard ProcedureName.isFile(name) else { throw SystemCallError("open", EINVAL) }
        try FileText.write(text, to: "\(folder)/\(name)", mode: Self.mode)
    }

    /// Adds the manifest as received, and its signature in Base64.
    package func add(manifest: String, signature: String?) throws(SystemCallError) {
        try FileText.write(manifest, to: "\(folder)/manifest.json", mode: Self.mode)
        guard let signature else { return }
        try FileText.write(signature, to: "\(folder)/manifest.json.sig", mode: Self.mode)
    }

    /// Gives it a name that no set has had, with everything synced to the disk.
    func finish(_ record: SetRecord) throws(SystemCallError) -> String {
        try FileText.write(record.json.text, to: "\(folder)/set.json", mode: Self.mode)
        for file in ["\(folder)/set.json", "\(folder)/lib/."] { try FileText.syncFolder(of: file) }
        let name = "\(record.identity.prefix(16))-\(UInt64.random(in: 0 ... .max))"
        try SystemCallError.check("rename") { rename(folder, "\(sets)/\(name)") }
        isFinished = true
        try FileText.syncFolder(of: "\(sets)/\(name)")
        return name
    }
}
