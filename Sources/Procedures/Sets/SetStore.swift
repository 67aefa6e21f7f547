internal import Glibc
package import Linux

/// Sets of files in `ROOT/sets`, and the symbolic link to the active one. Renaming that link activates another set
/// atomically: a crash before or after it leaves a complete set, the old one or the new one.
package struct SetStore: Sendable {
    package let root: String
    /// The link's path.
    package let link: String

    package init(root: String, link: String) {
        self.root = root
        self.link = "\(root)/\(link)"
    }

    private var sets: String { "\(root)/sets" }

    /// The active set; nil if there is none yet.
    package func current() throws(SetRefusal) -> StoredSet? { try StoredSet(link) }

    /// Begins a set that is not active yet.
    package func begin() throws(SystemCallError) -> NewSet {
        try Folders.make(sets)
        for name in FileText.names(in: sets) ?? [] where name.hasPrefix(NewSet.prefix) {
            Self.remove("\(sets)/\(name)")
        }
        return try NewSet(in: sets)
    }

    /// Activates a set, and removes older ones except the previous one, which somebody may still be reading.
    package func commit(_ set: NewSet, _ record: SetRecord) throws(SystemCallError) {
        guard !isFolder else {
            throw SystemCallError("\(link) is a folder with other files; rename it", EEXIST)
        }
        let old = target
        let name = try set.finish(record)
        let temporary = "\(link).new"
        unlink(temporary)
        try SystemCallError.check("symlink") { symlink("sets/\(name)", temporary) }
        try SystemCallError.check("rename") { rename(temporary, link) }
        try FileText.syncFolder(of: link)
        for other in FileText.names(in: sets) ?? [] where ![".", "..", name, old].contains(other) {
            Self.remove("\(sets)/\(other)")
        }
    }

    private var isFolder: Bool {
        var status = stat()
        return lstat(link, &status) == 0 && status.st_mode & S_IFMT != S_IFLNK
    }

    /// The name of the active set.
    private var target: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink(link, &buffer, buffer.count - 1)
        guard length > 0 else { return nil }
        let path = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/").last.map(String.init)
    }

    /// Removes a set's folder: files, and one folder of files.
    static func remove(_ folder: String) {
        for name in FileText.names(in: folder) ?? [] where name != "." && name != ".." {
            let path = "\(folder)/\(name)"
            guard unlink(path) != 0 else { continue }
            for inner in FileText.names(in: path) ?? [] { unlink("\(path)/\(inner)") }
            rmdir(path)
        }
        rmdir(folder)
    }
}
