internal import CLinux
internal import Glibc
internal import Linux
package import QuickConnect

/// A file that is being written. It does not have its name until it is complete.
///
/// It is in the same folder, as `.NAME.recording` or `.NAME.upload`, and locked while its writer lives. So files left
/// by a crash can be recognized by name, and distinguished from files that another daemon is writing.
package final class UnfinishedFile: Sendable {
    /// What happens to a file left by a crash.
    package enum Kind: String, Sendable {
        /// It is recovered at the next start.
        case recording
        /// It is deleted at the next start.
        case upload
    }

    package let name: MediaName
    package let kind: Kind
    package let file: OpenFile
    fileprivate let folder: OpenFile
    fileprivate var hiddenName: String { Self.hiddenName(name.base, kind) }

    static func hiddenName(_ base: String, _ kind: Kind) -> String { ".\(base).\(kind.rawValue)" }

    /// The name for which a hidden file was begun.
    static func name(hidden path: String, _ kind: Kind = .recording) -> MediaName? {
        let ending = ".\(kind.rawValue)"
        let start = path.lastSlash.map { path.utf8.index(after: $0) } ?? path.startIndex
        let hidden = path.utf8[start...]
        guard hidden.first == UInt8(ascii: "."), hidden.reversed().starts(with: ending.utf8.reversed()) else {
            return nil
        }
        let base = Substring(hidden.dropFirst().dropLast(ending.utf8.count))
        return MediaName(validating: String(path[..<start]) + String(base))
    }

    private init(name: MediaName, kind: Kind, file: OpenFile, folder: OpenFile) {
        (self.name, self.kind, self.file, self.folder) = (name, kind, file, folder)
    }

    fileprivate static func open(
        _ name: MediaName,
        _ kind: Kind,
        in media: MediaFolder,
        _ flags: Int32
    ) throws(SystemCallError) -> UnfinishedFile {
        let folder = try media.folder(name.folder, in: try media.root())
        let flags = flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(folder.descriptor, hiddenName(name.base, kind), flags, 0o660)
        guard descriptor >= 0 else { throw SystemCallError("openat") }
        let file = OpenFile(owning: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw SystemCallError("flock") }
        guard let status = file.status, status.isFile else { throw SystemCallError("fstat", ENOENT) }
        return UnfinishedFile(name: name, kind: kind, file: file, folder: folder)
    }

    /// Syncs the written data to the disk, so that it survives a power loss.
    package func sync() throws(CommandError) {
        try check("fdatasync", fdatasync(file.descriptor))
    }

    /// Writes bytes at an offset. If the disk takes only some of them, those are cut off again.
    package func write(_ bytes: [UInt8], at offset: Int) throws(CommandError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file.descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written, offset + written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                ftruncate(file.descriptor, offset)
                throw SystemCallError("pwrite", code).commandError(about: name)
            }
            written += count
        }
    }

    /// Gives the complete and synced file its name, replacing an older one.
    package func publish() throws(CommandError) {
        try check("fsync", fsync(file.descriptor))
        try check("renameat", renameat(folder.descriptor, hiddenName, folder.descriptor, name.base))
        try check("fsync", fsync(folder.descriptor))
    }

    /// Renames an unreadable file to `NAME.damaged`, or where that is taken to `NAME.damaged.2` and so on.
    /// - Returns: that name.
    package func publishDamaged() throws(CommandError) -> String {
        let damaged = FileText.damagedName(of: name.base) { other in
            var status = stat()
            return fstatat(folder.descriptor, other, &status, AT_SYMLINK_NOFOLLOW) == 0
        }
        try check("renameat", renameat(folder.descriptor, hiddenName, folder.descriptor, damaged))
        return name.folder == "." ? damaged : "\(name.folder)/\(damaged)"
    }

    /// Deletes it.
    package func discard() { unlinkat(folder.descriptor, hiddenName, 0) }

    fileprivate func check(_ call: String, _ result: Int32) throws(CommandError) {
        guard result != 0 else { return }
        throw SystemCallError(call).commandError(about: name)
    }
}

extension MediaFolder {
    /// Begins a file. The media folder is created if it is missing; a subfolder must exist.
    /// - Throws: `busy` if somebody is writing a file of that name, `notFound` if its folder is missing, `unavailable`.
    package func create(
        _ name: MediaName,
        _ kind: UnfinishedFile.Kind = .recording
    ) throws(CommandError) -> UnfinishedFile {
        try make()
        do throws(SystemCallError) {
            let folder = try folder(name.folder, in: try root())
            var status = stat()
            if fstatat(folder.descriptor, name.base, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isFolder {
                throw SystemCallError("fstatat", EISDIR)
            }
            return try UnfinishedFile.open(name, kind, in: self, O_CREAT | O_EXCL)
        } catch {
            switch error.code {
            case EEXIST, EWOULDBLOCK: throw CommandError(.busy, "'\(name)' is being written, or waits to be recovered")
            case EISDIR: throw CommandError(.busy, "'\(name)' is a folder")
            case ENOENT, ENOTDIR:
                throw CommandError(.notFound, "there is no folder '\(name.folder)' in the media folder")
            default: throw error.commandError(about: name)
            }
        }
    }

    /// Files left behind by writers that ended unexpectedly. Each is locked, so that nobody else takes it.
    package func unfinished(_ kind: UnfinishedFile.Kind = .recording) throws(CommandError) -> [UnfinishedFile] {
        try unfinishedNames(kind).compactMap { name in try? UnfinishedFile.open(name, kind, in: self, 0) }
    }

    /// The names of unfinished files, whether or not their writers live.
    func unfinishedNames(_ kind: UnfinishedFile.Kind) throws(CommandError) -> Set<MediaName> {
        var names: Set<MediaName> = []
        try walk { _, path in
            if let name = UnfinishedFile.name(hidden: path, kind) { names.insert(name) }
            return true
        }
        return names
    }
}

extension UnfinishedFile {
    /// A second file into which the first one can be copied before it is replaced.
    package final class Replacement: Sendable {
        package let file: OpenFile
        private let original: UnfinishedFile
        private var hiddenName: String { "\(original.hiddenName).whole" }

        fileprivate init(for original: UnfinishedFile) throws(CommandError) {
            let name = "\(original.hiddenName).whole"
            let flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
            let descriptor = openat(original.folder.descriptor, name, flags, 0o660)
            try original.check("openat", descriptor < 0 ? -1 : 0)
            file = OpenFile(owning: descriptor)
            self.original = original
        }

        /// Replaces the first file with this one, so that it can be published.
        package func takePlace() throws(CommandError) {
            let folder = original.folder.descriptor
            try original.check("fsync", fsync(file.descriptor))
            try original.check("renameat", renameat(folder, hiddenName, folder, original.hiddenName))
        }

        /// Deletes it.
        package func discard() { unlinkat(original.folder.descriptor, hiddenName, 0) }
    }

    package func replacement() throws(CommandError) -> Replacement { try Replacement(for: self) }
}
