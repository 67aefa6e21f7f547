internal import Glibc

/// Whether a file can be trusted: only root and this user can have written it.
package enum FileTrust {
    /// Why it cannot be trusted, in words that follow the path; nil if it can. The folder counts, too: whoever may
    /// write there can replace the file.
    package static func problem(of path: String) -> String? {
        let folder = Folders.parent(of: path) ?? "/"
        return problem(path, "", isFolder: false) ?? problem(folder, "its folder ", isFolder: true)
    }

    private static func problem(_ path: String, _ what: String, isFolder: Bool) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return "\(what)cannot be looked at: \(SystemCallError.text(errno))" }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            return "\(what)belongs to another user than root and you"
        }
        // In a folder with the sticky bit, such as /tmp, nobody can replace another user's file.
        let isSticky = isFolder && status.st_mode & S_ISVTX != 0
        guard status.st_mode & 0o022 == 0 || isSticky else {
            return "\(what)can be changed by others: «chmod go-w \(path)»"
        }
        return nil
    }
}
