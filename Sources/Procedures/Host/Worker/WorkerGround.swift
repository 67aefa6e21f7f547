internal import Glibc
internal import Linux

/// The files that the process of procedures has: those of the data, and the folders of procedures to read.
enum WorkerGround {
    /// Where SQLite puts what does not fit into memory. Its files have no names for longer than it takes to make them.
    static func temporaryFolder(ofData path: String) -> String { "\(Folders.parent(of: path) ?? ".")/temporary" }

    /// What a process is dropped for, where it is something else now: the process could not open it.
    static func now(_ folders: ProcedureFolders, data: String) -> Ground { Ground(folders.readable + [data]) }

    /// Opens the data, and gives all else up.
    static func enter(_ folders: ProcedureFolders, data: String, _ store: StoreKeeper) throws(SystemCallError) {
        // The service makes it, too, and may not have come to that yet.
        if let folder = Folders.parent(of: data) { try? Folders.make(folder) }
        store.prepare(data)
        let temporary = temporaryFolder(ofData: data)
        if store.problem == nil {
            try Folders.make(temporary)
            // SQLite flushes the name of a new log by its folder, which is out of this process's reach afterwards.
            try FileText.syncFolder(of: data)
            setenv("SQLITE_TMPDIR", temporary, 1)
        }
        try Confinement(readable: folders.readable, writable: DataFile.files(of: data) + [temporary]).enter()
    }
}
