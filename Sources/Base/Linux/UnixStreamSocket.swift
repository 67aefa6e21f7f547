internal import Glibc

/// Unix stream sockets, as descriptors.
package enum UnixStreamSocket {
    /// A new socket, closed on exec.
    package static func make() throws(SystemCallError) -> Int32 {
        try SystemCallError.check("socket") {
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        }
    }

    /// A connection to a path.
    ///
    /// connect(2) waits while the listener's backlog is full: with a stopped daemon, forever. To it a file or a folder is as
    /// the socket of a daemon that is gone; here that is `ENOTSOCK`.
    /// - Parameter deadline: when to give up with `ETIMEDOUT`; nil waits.
    package static func connect(
        to path: String,
        before deadline: ContinuousClock.Instant? = nil
    ) throws(SystemCallError) -> Int32 {
        let address = try UnixSocketAddress(path)
        let descriptor = try make()
        let code = connect(descriptor, address, before: deadline)
        guard code == 0 else {
            close(descriptor)
            throw SystemCallError("connect", code == ECONNREFUSED && isNoSocket(path) ? ENOTSOCK : code)
        }
        return descriptor
    }

    private static func isNoSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
    }

    /// - Returns: 0, or the error number.
    private static func connect(
        _ descriptor: Int32,
        _ address: UnixSocketAddress,
        before deadline: ContinuousClock.Instant?
    ) -> Int32 {
        while true {
            if let deadline {
                let left = ContinuousClock.now.duration(to: deadline)
                guard left > .zero else { return ETIMEDOUT }
                limitSending(descriptor, to: left)
            }
            let code = address.withSocketAddress { Glibc.connect(descriptor, $0, $1) == 0 ? 0 : errno }
            switch code {
            case EINTR: continue
            // A socket with a time limit returns this instead of ETIMEDOUT (socket(7), SO_SNDTIMEO).
            case EAGAIN: if deadline != nil { continue }
            default: break
            }
            return code
        }
    }

    /// Bounds how long connect(2) waits.
    private static func limitSending(_ descriptor: Int32, to time: Duration) {
        let (seconds, attoseconds) = time.components
        let microseconds = max(1, Int(attoseconds / 1_000_000_000_000))
        var limit = timeval(tv_sec: Int(seconds), tv_usec: microseconds)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
}
