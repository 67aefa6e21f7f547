internal import CLinux
internal import Glibc
internal import JSON
import Linux
public import QuickConnect

/// The folder for callers' files. Nothing outside of it is ever opened, whatever the name.
///
/// The kernel enforces that (`openat2` with `RESOLVE_BENEATH`): `..`, absolute paths and symbolic links that lead out
/// are refused while the path is walked, so that nobody can replace a part of it in between. If a system-call filter
/// forbids openat2, the path is walked here by the same rule. Everything here may block.
public struct MediaFolder: Sendable {
    public let path: String

    /// - Parameter path: the folder; it and the folders above it are created when the first file is written.
    public init(path: String) { self.path = path }

    /// Opens a file to read it.
    /// - Throws: `notFound`, also for folders, devices and paths that lead out; `unavailable` if it may not be read.
    public func open(_ name: MediaName) throws(CommandError) -> OpenFile {
        do throws(SystemFailure) {
            return try openFile(name.text, in: root())
        } catch {
            throw error.commandError(about: name)
        }
    }

    /// Opens the media folder itself, as the base for paths within it.
    func root() throws(SystemFailure) -> OpenFile {
        let descriptor = Glibc.open(path, qc_o_path | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure(call: "open", code: errno) }
        return OpenFile(owning: descriptor)
    }

    /// A folder within the media folder.
    func folder(_ name: String, in root: OpenFile) throws(SystemFailure) -> OpenFile {
        try beneath(root, name, O_RDONLY | O_DIRECTORY)
    }

    /// Opens a regular file within the media folder for reading. Its type is checked before it is opened, because
    /// opening a device may have effects, and opening a pipe would wait.
    func openFile(_ name: String, in root: OpenFile) throws(SystemFailure) -> OpenFile {
        let place = try beneath(root, name, qc_o_path)
        guard let status = place.status, status.isFile else { throw SystemFailure(call: "fstat", code: ENOENT) }
        let descriptor = Glibc.open("/proc/self/fd/\(place.descriptor)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure(call: "open", code: errno) }
        return OpenFile(owning: descriptor)
    }

    func beneath(_ root: OpenFile, _ name: String, _ flags: Int32) throws(SystemFailure) -> OpenFile {
        let result = qc_open_beneath(root.descriptor, name, flags, 0)
        guard result >= 0 else { throw SystemFailure(call: "openat2", code: -result) }
        return OpenFile(owning: result)
    }
}

extension MediaFolder {
    /// Creates the folder if it is missing.
    public func make() throws(CommandError) {
        do throws(SystemFailure) { try Self.make(path) } catch {
            throw CommandError(.unavailable, "the media folder \(path) cannot be made: \(error.reason)")
        }
    }

    private static func make(_ path: String) throws(SystemFailure) {
        if mkdir(path, 0o770) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastSlash, slash != path.startIndex else {
            throw SystemFailure(call: "mkdir", code: errno)
        }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o770) == 0 || errno == EEXIST else { throw SystemFailure(call: "mkdir", code: errno) }
    }

    /// The size of the folder's file system in bytes, and how much of it is free for this user; nil if the folder is
    /// missing.
    public var space: (total: Int, free: Int)? {
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
        do throws(SystemFailure) {
            let folder = try folder(name.folder, in: try root())
            var status = stat()
            if fstatat(folder.descriptor, name.base, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
            throw SystemFailure(call: "fstatat", code: errno)
        } catch {
            if [ENOENT, ENOTDIR, EXDEV, ELOOP].contains(error.code) { return nil }
            throw error.commandError(about: name)
        }
    }

    /// Whether the folder can be opened.
    /// - Throws: `unavailable`.
    public func check() throws(CommandError) {
        do throws(SystemFailure) { _ = try folder(".", in: try root()) } catch {
            throw CommandError(.unavailable, "the media folder \(path) cannot be opened: \(error.reason)")
        }
    }

    /// Whether this process may write to it.
    public var isWritable: Bool { access(path, W_OK | X_OK) == 0 }

    /// Deletes a file. If it is a symbolic link, deletes the link.
    /// - Throws: `notFound`, `unavailable`.
    public func remove(_ name: MediaName) throws(CommandError) {
        do throws(SystemFailure) {
            let root = try root()
            _ = try openFile(name.text, in: root)
            let folder = try folder(name.folder, in: root)
            guard unlinkat(folder.descriptor, name.base, 0) == 0 else {
                throw SystemFailure(call: "unlinkat", code: errno)
            }
        } catch {
            throw error.commandError(about: name)
        }
    }
}

/// A system call that failed.
struct SystemFailure: Error {
    let call: String
    let code: Int32

    var reason: String { "\(SystemCallError.text(code)) (\(call), \(code))" }

    func commandError(about name: MediaName) -> CommandError {
        switch code {
        case ENOENT, ENOTDIR, EISDIR, ENXIO, ENODEV:
            CommandError(.notFound, "there is no file '\(name)' in the media folder")
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
