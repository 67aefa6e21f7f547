import CommandLineText
import Glibc
import JSON
import Linux

/// What a restore is about to replace, on the disk from before its first change to after its last: whoever finds it
/// after a power cut or a kill takes the restore back.
struct RestoreJournal {
    struct Part {
        var path: String
        /// Whether there was anything before the restore.
        var wasThere: Bool

        init(path: String, wasThere: Bool? = nil) {
            self.path = path
            self.wasThere = wasThere ?? Self.isThere(path)
        }

        var new: String { "\(path).restored" }
        var old: String { "\(path).before-restore" }
        /// Whether it has been replaced, or taken away, and not been put back.
        var isReplaced: Bool { Self.isThere(old) || !wasThere }

        /// Also of a link that leads nowhere.
        private static func isThere(_ path: String) -> Bool {
            var status = stat()
            return lstat(path, &status) == 0
        }
    }

    let path: String
    /// Where the backup is unpacked.
    let staging: String
    let parts: [Part]

    /// - Parameter state: the daemon's folder of state.
    init(state: String, parts: [Part]) {
        (path, staging) = (Self.path(state), "\(state).restore")
        self.parts = parts
    }

    private static func path(_ state: String) -> String { "\(state).restoring" }

    /// What a restore that was cut off before its first change has left; it holds secrets.
    private static func drafts(_ state: String) -> [String] { ["\(state).restore", "\(path(state)).new"] }

    static func removeDrafts(_ state: String) { for draft in drafts(state) { remove(draft) } }

    /// Whether a restore was cut off, or runs.
    static func isLeft(beside state: String) -> Bool {
        ([path(state)] + drafts(state)).contains(where: FileText.exists)
    }

    /// Waits for a restore that runs. Closing the descriptor lets the next one go on.
    static func lock(_ state: String) throws(SystemCallError) -> Int32 { try FileLock.take("\(state).restore.lock") }

    /// The one of a restore that was cut off, or that runs; nil if there is none.
    init?(leftBeside state: String) throws {
        let path = Self.path(state)
        guard FileText.exists(path) else { return nil }
        let text = try? FileText.exact(path, maximumBytes: 1 << 20).get()
        let items = text.flatMap { try? JSONParser.parse($0).arrayValue?.map(\.objectValue) }
        let parts = (items ?? [nil]).map { item -> Part? in
            guard let path = item?["path"]?.stringValue, let wasThere = item?["wasThere"]?.boolValue else {
                return nil
            }
            return Part(path: path, wasThere: wasThere)
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
        let items = parts.map { ["path": .string($0.path), "wasThere": .bool($0.wasThere)] as JSONValue }
        try FileText.replace(path, with: JSONValue.array(items).text + "\n")
    }

    /// The restore is done, or taken back.
    func end() {
        sync()
        unlink(path)
        try? FileText.syncFolder(of: path)
    }

    /// Puts everything back as it was, as far as it was replaced. May be done again, also after it was cut off itself.
    func undo() throws(ExitError) {
        for part in parts.reversed() where part.isReplaced {
            guard Self.remove(part.path), !part.wasThere || rename(part.old, part.path) == 0 else {
                throw ExitError(
                    message: """
                        \(part.path) cannot be put back as it was before the restore; what it was is \(part.old). \
                        Once that is possible, «quickconnect restore --undo» goes on.
                        """
                )
            }
        }
        for part in parts { Self.remove(part.new) }
        end()
    }

    /// - Returns: whether it is gone.
    @discardableResult
    static func remove(_ path: String) -> Bool {
        Program.run("rm", ["--recursive", "--force", "--", path])?.status == 0
    }
}
