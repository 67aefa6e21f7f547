internal import Glibc
internal import Linux

/// The file of the data. One that is there, but empty, has lost what was in it, as after a damage to the file system. SQLite
/// would take it for a new one, without a word, and delete the log beside it.
enum DataFile {
    /// What belongs to the file of the data, in its folder.
    static func files(of path: String) -> [String] { ["", "-wal", "-shm"].map { path + $0 } }

    /// Whether a file has no bytes; nil if there is none.
    static func isEmpty(_ path: String) -> Bool? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    }

    /// Renames an empty file, with what belongs to it, before anybody opens it.
    /// - Returns: what is to be told of this one, or of one of an earlier start that is still there.
    static func setAside(_ path: String, at date: EntryDate?) -> String? {
        if isEmpty(path) == true {
            let time = date.map { "\($0)".filter { $0 != ":" } } ?? "unknown"
            for file in files(of: path).reversed() {
                rename(file, "\(path)\(mark)\(time)\(file.dropFirst(path.count))")
            }
        }
        guard let folder = Folders.parent(of: path) else { return nil }
        let name = path.dropFirst(folder.count).drop { $0 == "/" }
        guard let kept = FileText.names(in: folder)?.last(where: { isKept($0, name) }) else { return nil }
        return "\(path) was empty when the service started, so what was recorded until then is lost, unless a backup "
            + "has it. The empty file is kept as \(folder)/\(kept); remove it when this is settled"
    }

    private static func isKept(_ file: String, _ name: Substring) -> Bool {
        file.hasPrefix("\(name)\(mark)") && !file.hasSuffix("-wal") && !file.hasSuffix("-shm")
    }

    private static let mark = ".empty-"
}
