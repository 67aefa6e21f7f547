internal import CLinux
internal import Glibc
internal import JSON
import Linux
package import QuickConnect

/// The folder for callers' files. Nothing outside of it is ever opened, whatever the name.
///
/// The kernel enforces that (`openat2` with `RESOLVE_BENEATH`): `..`, absolute paths and symbolic links that lead out
/// are refused while the path is walked, so that nobody can replace a part of it in between. If a system-call filter
/// forbids openat2, the path is walked here by the same rule. Everything here may block.
package struct MediaFolder: Sendable {
    package let path: String

    /// - Parameter path: the folder; it and the folders above it are created when the first file is written.
    package init(path: String) { self.path = path }

    /// Opens a file to read it.
    /// - Throws: `notFound`, also for folders, devices and paths that lead out; `unavailable` if it may not be read.
    package func open(_ name: MediaName) throws(CommandError) -> OpenFile {
        do throws(SystemCallError) {
            return try openFile(name.text, in: root())
        } catch {
            throw error.commandError(about: name)
        }
    }

    /// Opens the media folder itself, as the base for paths within it.
    func root() throws(SystemCallError) -> OpenFile {
        let descriptor = Glibc.open(path, qc_o_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open") }
        return OpenFile(owning: descriptor)
    }

    /// A folder within the media folder.
    func folder(_ name: String, in root: OpenFile) throws(SystemCallError) -> OpenFile {
        try beneath(root, name, O_RDONLY | O_DIRECTORY)
    }

    /// Opens a regular file within the media folder for reading. Its type is checked before it is opened, because
    /// opening a device may have effects, and opening a pipe would wait.
    func openFile(_ name: String, in root: OpenFile) throws(SystemCallError) -> OpenFile {
        let place = try beneath(root, name, qc_o_path)
        guard let status = place.status, status.isFile else { throw SystemCallError("fstat", ENOENT) }
        let descriptor = Glibc.open("/proc/self/fd/\(place.descriptor)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open") }
        return OpenFile(owning: descriptor)
    }

    func beneath(_ root: OpenFile, _ name: String, _ flags: Int32) throws(SystemCallError) -> OpenFile {
        let result = qc_open_beneath(root.descriptor, name, flags, 0)
        guard result >= 0 else { throw SystemCallError("openat2", -result) }
        return OpenFile(owning: result)
    }
}

extension MediaFolder {
    /// Creates the folder if it is missing.
    package func make() throws(CommandError) {
        do throws(SystemCallError) { try Folders.make(path, mode: 0o770) } catch {
            throw CommandError(.unavailable, "the media folder \(path) cannot be made: \(error.reason)")
        }
    }

    /// The size of the folder's file system in bytes, and how much of it is free for this user; nil if the folder is
    /// missing.
    package var space: (total: Int, free: Int)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        func bytes(_ blocks: UInt) -> Int {
            // Some network file systems report an unlimited size.
            let (product, isTooLarge) = blocks.multipliedReportingOverflow(by: UInt(status.f_frsize))
            return isTooLarge ? Int.max : Int(clamping: product)
        }
        return (bytes(status.f_blocks), bytes(status.f_bavail))
    }

    /// Whether anything has that name: a file, a folder, or a symbolic link.
    func holds(_ name: MediaName) throws(CommandError) -> Bool { try status(of: name) != nil }

    /// The status of what has that name, without following a symbolic link; nil if there is nothing.
    func status(of name: MediaName) throws(CommandError) -> stat? {
        do throws(SystemCallError) {
            let folder = try folder(name.folder, in: try root())
            var status = stat()
            if fstatat(folder.descriptor, name.base, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
            throw SystemCallError("fstatat")
        } catch {
            if [ENOENT, ENOTDIR, EXDEV, ELOOP].contains(error.code) { return nil }
            throw error.commandError(about: name)
        }
    }

    /// Whether the folder can be opened.
    /// - Throws: `unavailable`.
    package func check() throws(CommandError) {
        do throws(SystemCallError) { _ = try folder(".", in: try root()) } catch {
            throw CommandError(.unavailable, "the media folder \(path) cannot be opened: \(error.reason)")
        }
    }

    /// Whether this process may write to it.
    package var isWritable: Bool { access(path, W_OK | X_OK) == 0 }

    /// Deletes a file. If it is a symbolic link, deletes the link.
    /// - Throws: `notFound`, `unavailable`.
    package func remove(_ name: MediaName) throws(CommandError) {
        do throws(SystemCallError) {
            let root = try root()
            _ = try openFile(name.text, in: root)
            let folder = try folder(name.folder, in: root)
            guard unlinkat(folder.descriptor, name.base, 0) == 0 else {
                throw SystemCallError("unlinkat")
            }
        } catch {
            throw error.commandError(about: name)
        }
    }
}

extension UploadPiece.Condition {
    /// - Parameter status: of what has the file's name; nil if there is nothing.
    func check(_ status: stat?, of name: MediaName) throws(CommandError) {
        let problem: String
        switch (self, status) {
        case (.nothing, nil), (.anyFile, _?): return
        case (.tags(let tags), let status?) where tags.contains(status.tag): return
        case (.nothing, _?): problem = "there is a file '\(name)' already"
        case (_, nil): problem = "there is no file '\(name)' that could be replaced"
        case (.tags, _?): problem = "'\(name)' was written by somebody else meanwhile; read it again"
        }
        let now = status.map { JSONValue.string($0.tag) } ?? .null
        throw CommandError(.invalid, problem, details: ["file": .string(name.text), "tag": now])
    }
}

/// What a caller is told of a system call that failed for a file of the media folder.
extension SystemCallError {
    var reason: String { "\(Self.text(code)) (\(call), \(code))" }

    func commandError(about name: MediaName) -> CommandError {
        switch code {
        case ENOENT, ENOTDIR, EISDIR, ENXIO, ENODEV:
            CommandError(
                .notFound,
                "there is no file '\(name)' in the media folder; «quickconnect media put FILE» puts one there"
            )
        case EXDEV, ELOOP:
            CommandError(.notFound, "'\(name)' leads out of the media folder, so it is not found")
        case ENAMETOOLONG:
            .invalid("/0", expected: MediaName.expectation, got: JSONValue.string(name.text).gist)
        case EACCES, EPERM:
            CommandError(.unavailable, "the daemon's user may not do that to '\(name)': \(reason)")
        default:
            CommandError(.unavailable, "'\(name)' in the media folder failed: \(reason)")
        }
    }
}

/// The owner of a descriptor, which is closed with the last reference.
package final class OpenFile: Sendable {
    package let descriptor: Int32

    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// A path to this very file, even if it was renamed, for libraries that open files themselves. (`sf_open_fd` of
    /// libsndfile 1.2 closes the descriptor on failure even when told not to.)
    package var path: String { "/proc/self/fd/\(descriptor)" }

    /// Its size in bytes; 0 if unknown.
    package var bytes: Int { status.map { Int($0.st_size) } ?? 0 }
}
