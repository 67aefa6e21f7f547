import Glibc
import Linux
import QuickConnect

/// The copy of the data that the service says it has made. Root reads it, and anybody might have answered in the service's
/// place: so it must be a file of the service, in the service's own folder.
struct DataCopy {
    private let path: String
    /// The folder of the service's data.
    private let folder: String
    /// Its name below the folder: `backups/NAME.db`.
    private let name: String

    /// Why a file is not read.
    struct Refusal: Error {
        var reason: String
    }

    /// - Parameter data: the path of the service's data.
    init(_ path: String, ofFileAt data: String) throws(Refusal) {
        let folder = Folders.parent(of: data) ?? "/"
        let parts = path.dropFirst(folder.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("\(folder)/"), parts.count == 2, parts[0] == "backups", !parts[1].hasPrefix("."),
            parts[1].hasSuffix(".db"), !path.utf8.contains(0)
        else {
            throw Refusal(reason: "'\(path.shortened)' is not a file in \(folder)/backups")
        }
        (self.path, self.folder) = (path, folder)
        name = parts.joined(separator: "/")
    }

    /// Copies it, to a private file. Nothing that is a link, another user's, or in a folder that others can write to is
    /// read.
    /// - Parameter isOwn: whether no link in the target's place is followed.
    func copy(to target: String, isOwn: Bool = true) throws(Refusal) {
        // Itself it may be a link: the owner's, to another disk.
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw failure(folder, errno) }
        defer { close(root) }
        let owner = try status(of: root, folder, kind: S_IFDIR).st_uid
        let backups = openat(root, "backups", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard backups >= 0 else { throw failure("\(folder)/backups", errno) }
        defer { close(backups) }
        try check(backups, "\(folder)/backups", kind: S_IFDIR, owner: owner)
        let file = openat(backups, String(name.dropFirst(8)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw failure(path, errno) }
        defer { close(file) }
        try check(file, path, kind: S_IFREG, owner: owner)
        do throws(SystemCallError) { try FileCopy.make(ofOpen: file, at: target, isOwn: isOwn) } catch {
            throw Refusal(reason: "\(path) → \(target): \(error)")
        }
    }

    private func failure(_ path: String, _ code: Int32) -> Refusal {
        let text = [ELOOP, ENOTDIR].contains(code) ? "is a link" : SystemCallError.text(code)
        return Refusal(reason: "\(path): \(text)")
    }

    private func status(of descriptor: Int32, _ path: String, kind: mode_t) throws(Refusal) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, errno) }
        guard status.st_mode & S_IFMT == kind else {
            throw Refusal(reason: "\(path) is not a \(kind == S_IFREG ? "regular file" : "folder")")
        }
        guard status.st_mode & 0o022 == 0 else { throw Refusal(reason: "\(path) can be changed by others") }
        return status
    }

    private func check(_ descriptor: Int32, _ path: String, kind: mode_t, owner: uid_t) throws(Refusal) {
        let status = try status(of: descriptor, path, kind: kind)
        guard status.st_uid == owner else {
            throw Refusal(reason: "\(path) belongs to user \(status.st_uid), and the service's folder to user \(owner)")
        }
        guard kind != S_IFREG || status.st_nlink == 1 else {
            throw Refusal(reason: "\(path) has \(status.st_nlink) names, and may be a file of elsewhere")
        }
    }
}
