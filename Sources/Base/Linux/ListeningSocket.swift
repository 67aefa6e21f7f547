internal import Glibc

/// The socket that clients connect to: made here, or passed by systemd.
package struct ListeningSocket: Sendable {
    package let descriptor: CInt
    /// Its path, or its name in systemd.
    package let name: String
    /// Whether systemd keeps it, even while no daemon runs.
    package let isPassed: Bool
    private let inode: ino_t

    /// The sockets that systemd passes (sd_listen_fds_with_names(3)), with their names from FileDescriptorName=.
    package static func passedBySystemd(environment: [String: String]) -> [ListeningSocket] {
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

    /// systemd's name for a socket without one.
    private static let unnamed = "unknown"
    /// SD_LISTEN_FDS_START
    private static let firstPassed: CInt = 3

    /// Its path in the file system.
    package var path: String? { isPassed ? UnixSocketAddress.path(of: descriptor) : name }

    /// Makes the socket. A stale file is replaced; it fails if a daemon answers, or something other than a socket is
    /// there.
    /// - Parameters:
    ///   - mode: the permissions of its file.
    ///   - makesFolder: whether to create its folder if it is missing.
    package static func bind(
        path: String,
        mode: UInt32 = 0o660,
        makesFolder: Bool = false
    ) throws(PlainError) -> ListeningSocket {
        if let folder = Folders.parent(of: path) {
            if makesFolder { mkdir(folder, 0o755) }
            guard access(folder, F_OK) == 0 || errno != ENOENT else {
                throw PlainError("cannot listen on \(path): there is no folder \(folder), so make it first")
            }
        }
        do throws(SystemCallError) {
            try removeStale(path)
            let descriptor = try listen(on: path, mode: mode)
            return ListeningSocket(descriptor: descriptor, name: path, isPassed: false, inode: inode(of: path))
        } catch {
            throw PlainError("cannot listen on \(path): \(error)")
        }
    }

    /// Gives its file to a group, if it does not already belong to it.
    package func give(to group: UInt32) throws(PlainError) {
        var status = stat()
        if lstat(name, &status) == 0, status.st_gid == group { return }
        guard chown(name, uid_t.max, group) == 0 else {
            throw PlainError("\(name) cannot be given to the group: \(SystemCallError.text(errno))")
        }
    }

    /// Removes the file, unless it belongs to another daemon by now.
    package func unlink() {
        guard !isPassed, Self.inode(of: name) == inode else { return }
        _ = Glibc.unlink(name)
    }

    private static func listen(on path: String, mode: UInt32) throws(SystemCallError) -> CInt {
        let address = try UnixSocketAddress(path)
        let descriptor = try UnixStreamSocket.make()
        do throws(SystemCallError) {
            // Linux creates the file with the descriptor's own mode, less the umask, so it is never open to more people
            // than `mode` says. Changing the umask instead would affect all threads.
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

    /// How long another daemon may take to accept before it counts as running.
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
