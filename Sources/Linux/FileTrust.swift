internal import Glibc

/// Whether a file says what its owner means: nobody but root and this user may have written it.
public enum FileTrust {
    /// Why it does not, in words that follow the path; nil where it does. The folder that the file lies in counts, too: who
    /// may write there can put another file in its place.
    public static func problem(of path: String) -> String? {
        let folder = Folders.parent(of: path) ?? "/"
        return problem(path, "", isFolder: false) ?? problem(folder, "its folder ", isFolder: true)
    }

    private static func problem(_ path: String, _ what: String, isFolder: Bool) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return "\(what)cannot be looked at: \(SystemCallError.text(errno))" }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            return "\(what)belongs to another user than root and you"
        }
        // In a folder with the sticky bit, such as /tmp, nobody replaces another one's file.
        let isSticky = isFolder && status.st_mode & S_ISVTX != 0
        guard status.st_mode & 0o022 == 0 || isSticky else {
            return "\(what)can be changed by others: «chmod go-w \(path)»"
        }
        return nil
    }
}
