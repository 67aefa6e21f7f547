import CommandLineText
import Glibc
import JSON
import Linux

/// What a restore is about to put in place of what, on the disk from before its first change to after its last: whoever
/// finds it after a power cut or a kill takes the restore back.
struct RestoreJournal {
    struct Part {
        var path: String
        /// Whether the backup holds it; otherwise it goes.
        var isInBackup: Bool

        var new: String { "\(path).restored" }
        var old: String { "\(path).before-restore" }
    }

    let path: String
    let parts: [Part]

    /// - Parameter state: the daemon's folder of state.
    init(state: String, parts: [Part]) {
        path = "\(state).restoring"
        self.parts = parts
    }

    /// The one of a restore that was cut off; nil if there is none.
    init?(leftBeside state: String) throws {
        let path = "\(state).restoring"
        guard FileText.exists(path) else { return nil }
        let text = try? FileText.read(path, maximumBytes: 1 << 20).get()
        let items = text.flatMap { try? JSONParser.parse($0).arrayValue?.map(\.objectValue) }
        let parts = (items ?? [nil]).map { item -> Part? in
            guard let path = item?["path"]?.stringValue, let isInBackup = item?["isInBackup"]?.boolValue else {
                return nil
            }
            return Part(path: path, isInBackup: isInBackup)
        }
        guard parts.allSatisfy({ $0 != nil }) else {
            throw ExitError(
                message: "\(path) is not what a restore writes; remove it if the device is as you want it"
            )
        }
        self.init(state: state, parts: parts.compactMap { $0 })
    }

    /// Waits until all that was written before is on the disk, then is itself.
    func begin() throws(SystemCallError) {
        sync()
        let items = parts.map { ["path": .string($0.path), "isInBackup": .bool($0.isInBackup)] as JSONValue }
        try FileText.replace(path, with: JSONValue.array(items).text + "\n")
    }

    /// The restore is done, or taken back.
    func end() {
        sync()
        unlink(path)
        try? FileText.syncFolder(of: path)
    }

    /// Puts everything back as it was, as far as it was replaced. May be done again.
    func undo() {
        for part in parts.reversed() {
            if FileText.exists(part.old) {
                Self.remove(part.path)
                rename(part.old, part.path)
            } else if part.isInBackup, !FileText.exists(part.new) {
                // Nothing was there before.
                Self.remove(part.path)
            }
        }
        for part in parts { Self.remove(part.new) }
        end()
    }

    static func remove(_ path: String) { _ = Program.run("rm", ["--recursive", "--force", "--", path]) }
}
