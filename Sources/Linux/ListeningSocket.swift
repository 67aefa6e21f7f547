internal import Glibc

/// The socket that clients connect to: made here, or passed by systemd.
public struct ListeningSocket: Sendable {
    /// Why there is no socket.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        public var description: String
    }

    public let descriptor: CInt
    /// Its path, or the name that systemd gives it.
    public let name: String
    /// Whether systemd keeps it, also while no daemon runs.
    public let isPassed: Bool
    private let inode: ino_t

    /// The sockets that systemd passes (sd_listen_fds_with_names(3)), with what FileDescriptorName= calls them.
    public static func passedBySystemd(environment: [String: String]) -> [ListeningSocket] {
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap(Int.init),
            count > 0
        else { return [] }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        return (0..<count).map { index in
            let descriptor = firstPassed + CInt(index)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let name = index < names.count ? String(names[index]) : unnamed
            return ListeningSocket(descriptor: descriptor, name: name, isPassed: true, inode: 0)
        }
    }

    /// What systemd calls a socket without a name.
    private static let unnamed = "unknown"
    /// SD_LISTEN_FDS_START
    private static let firstPassed: CInt = 3

    /// Where it is in the file system.
    public var path: String? { isPassed ? UnixSocketAddress.path(of: descriptor) : name }

    /// Makes the socket. A stale file is replaced; where a daemon answers, or something else than a socket is in the
    /// way, it fails.
    /// - Parameters:
    ///   - mode: the permissions of its file.
    ///   - makesFolder: whether the folder that it lies in is made where it is missing.
    public static func bind(
        path: String,
        mode: UInt32 = 0o660,
        makesFolder: Bool = false
    ) throws(Failure) -> ListeningSocket {
        if let folder = Folders.parent(of: path) {
            if makesFolder { mkdir(folder, 0o755) }
            guard access(folder, F_OK) == 0 || errno != ENOENT else {
                throw Failure(description: "cannot listen on \(path): there is no folder \(folder), so make it first")
            }
        }
        do throws(SystemCallError) {
            try removeStale(path)
            let descriptor = try listen(on: path, mode: mode)
            return ListeningSocket(descriptor: descriptor, name: path, isPassed: false, inode: inode(of: path))
        } catch {
            throw Failure(description: "cannot listen on \(path): \(error)")
        }
    }

    /// Gives its file to a group, where it is not that one's already.
    public func give(to group: UInt32) throws(Failure) {
        var status = stat()
        if lstat(name, &status) == 0, status.st_gid == group { return }
        guard chown(name, uid_t.max, group) == 0 else {
            throw Failure(description: "\(name) cannot be given to the group: \(SystemCallError.text(errno))")
        }
    }

    /// Takes the file away, unless it is another daemon's by now.
    public func unlink() {
        guard !isPassed, Self.inode(of: name) == inode else { return }
        _ = Glibc.unlink(name)
    }

    private static func listen(on path: String, mode: UInt32) throws(SystemCallError) -> CInt {
        let address = try UnixSocketAddress(path)
        let descriptor = try UnixStreamSocket.make()
        do throws(SystemCallError) {
            // Linux makes the file with the descriptor's own mode, less the umask: it is never open to more people than
            // `mode` says. The umask itself is all threads', and two that change it may leave it changed.
            try SystemCallError.check("fchmod") { fchmod(descriptor, mode) }
            try SystemCallError.check("bind") { address.withSocketAddress { Glibc.bind(descriptor, $0, $1) } }
            try SystemCallError.check("chmod") { chmod(path, mode) }
            try SystemCallError.check("listen") { Glibc.listen(descriptor, SOMAXCONN) }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// How long another daemon has to accept, before it counts as one that is there.
    private static let probeTime = Duration.seconds(2)

    private static func removeStale(_ path: String) throws(SystemCallError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemCallError("a file that is not a socket is there", EEXIST)
        }
        do throws(SystemCallError) {
            close(try UnixStreamSocket.connect(to: path, before: .now + probeTime))
        } catch {
            guard error.code == ECONNREFUSED else { throw SystemCallError("another daemon is using it", EADDRINUSE) }
            _ = Glibc.unlink(path)
            return
        }
        throw SystemCallError("another daemon is using it", EADDRINUSE)
    }

    private static func inode(of path: String) -> ino_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : 0
    }
}
