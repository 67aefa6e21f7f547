import Glibc

/// The socket that clients connect to: made here, or passed by systemd.
public struct ListeningSocket: Sendable {
    /// Why there is no socket.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        public var description: String
    }

    let descriptor: CInt
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
    public var path: String? {
        guard isPassed else { return name }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        return withUnsafeBytes(of: &address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Makes the socket. A stale file is replaced; where a daemon answers, or something else than a socket is in the
    /// way, it fails.
    /// - Parameter mode: the permissions of its file.
    public static func bind(path: String, mode: UInt32 = 0o660) throws(Failure) -> ListeningSocket {
        do throws(SystemCallError) {
            // The folder of the default path may be missing after a boot.
            if let slash = path.lastIndex(of: "/"), slash > path.startIndex { mkdir(String(path[..<slash]), 0o755) }
            try removeStale(path)
            let descriptor = try SystemCallError.check("socket") {
                socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            }
            // The mode must be right from the first moment on, so not by a chmod afterwards.
            let mask = umask(~mode & 0o777)
            defer { umask(mask) }
            _ = try withAddress(path) { address, length throws(SystemCallError) in
                try SystemCallError.check("bind") { Glibc.bind(descriptor, address, length) }
            }
            try SystemCallError.check("listen") { listen(descriptor, SOMAXCONN) }
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
            throw Failure(description: "\(name) cannot be given to the group: \(String(cString: strerror(errno)))")
        }
    }

    /// Takes the file away, unless it is another daemon's by now.
    public func unlink() {
        guard !isPassed, Self.inode(of: name) == inode else { return }
        _ = Glibc.unlink(name)
    }

    private static func removeStale(_ path: String) throws(SystemCallError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemCallError("a file that is no socket is there", EEXIST)
        }
        let probe = try SystemCallError.check("socket") {
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        }
        defer { close(probe) }
        let isRefused = try withAddress(path) { address, length in
            connect(probe, address, length) != 0 && errno == ECONNREFUSED
        }
        guard isRefused else { throw SystemCallError("another daemon is using it", EADDRINUSE) }
        _ = Glibc.unlink(path)
    }

    private static func inode(of path: String) -> ino_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : 0
    }

    private static func withAddress<Result>(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemCallError) -> Result
    ) throws(SystemCallError) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < capacity else {
            throw SystemCallError("the path is longer than \(capacity - 1) bytes", ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Swift.Result { () throws(SystemCallError) -> Result in
                    try body(address, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        return try outcome.get()
    }
}
