import Glibc

/// The socket that clients connect to: made here, or passed by systemd.
public struct ListeningSocket: Sendable {
    /// Why there is no socket.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        public var description: String
    }

    let descriptor: CInt
    /// Where it is; nil for one of systemd's.
    public let path: String?
    private let inode: ino_t

    /// The socket that systemd passes (sd_listen_fds(3)), nil where it passes none. Several are a mistake.
    public static func passedBySystemd(environment: [String: String]) throws(Failure) -> ListeningSocket? {
        guard environment["LISTEN_PID"] == "\(getpid())", let text = environment["LISTEN_FDS"], let count = Int(text)
        else { return nil }
        guard count == 1 else { throw Failure(description: "systemd passed \(count) sockets; one is expected") }
        let first: CInt = 3
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        return ListeningSocket(descriptor: first, path: nil, inode: 0)
    }

    /// Makes the socket, mode 0660. A stale file is replaced; where a daemon answers, or something else than a
    /// socket is in the way, it fails.
    public static func bind(path: String) throws(Failure) -> ListeningSocket {
        do throws(SystemCallError) {
            // The folder of the default path may be missing after a boot.
            if let slash = path.lastIndex(of: "/"), slash > path.startIndex { mkdir(String(path[..<slash]), 0o755) }
            try removeStale(path)
            let descriptor = try SystemCallError.check("socket") {
                socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            }
            // The mode must be right from the first moment on, so not by a chmod afterwards.
            let mask = umask(0o117)
            defer { umask(mask) }
            _ = try withAddress(path) { address, length throws(SystemCallError) in
                try SystemCallError.check("bind") { Glibc.bind(descriptor, address, length) }
            }
            try SystemCallError.check("listen") { listen(descriptor, SOMAXCONN) }
            return ListeningSocket(descriptor: descriptor, path: path, inode: inode(of: path))
        } catch {
            throw Failure(description: "cannot listen on \(path): \(error)")
        }
    }

    /// Takes the file away, unless it is another daemon's by now.
    func unlink() {
        guard let path, Self.inode(of: path) == inode else { return }
        _ = Glibc.unlink(path)
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
