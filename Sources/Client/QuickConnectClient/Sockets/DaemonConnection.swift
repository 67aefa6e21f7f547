internal import Glibc
package import Linux

/// A connection to the daemon: bytes out, bytes in. For one thread; only ``wait(for:before:)`` blocks.
public final class DaemonConnection {
    /// When to stop waiting.
    public typealias Deadline = ContinuousClock.Instant

    /// What to wait for.
    public enum Readiness: Sendable {
        case input, output, inputOrOutput
    }

    /// The descriptor, for a poll loop that waits for more than this connection.
    public let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// Whether there may be more than was received last: where a stream gives less than fits, it is empty (epoll(7)).
    package private(set) var mayHaveMore = false

    /// Connects, or throws the error.
    /// - Parameter deadline: when to stop waiting for a daemon that does not accept.
    package init(path: String, before deadline: Deadline? = nil) throws(SystemCallError) {
        descriptor = try UnixStreamSocket.connect(to: path, before: deadline)
    }

    deinit { Glibc.close(descriptor) }

    /// Has the kernel hold only about so many bytes that the daemon has not read, so that what is sent next need not wait
    /// for more than these.
    public func limitUnread(to bytes: Int) {
        // The kernel doubles it, for its own needs.
        var size = CInt(clamping: bytes)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Sends as much as the kernel takes now, and returns how much that was.
    package func sendSome(_ bytes: ArraySlice<UInt8>) throws(SystemCallError) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw SystemCallError("send") }
        }
    }

    /// Passes on what has been received, at most 64 KiB, and nothing if there is nothing.
    /// - Returns: false if the daemon has closed the connection.
    package func receiveSome(_ take: (UnsafeBufferPointer<UInt8>) -> Void) throws(SystemCallError) -> Bool {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        mayHaveMore = count == buffer.count
        if count > 0 { buffer.withUnsafeBufferPointer { take(UnsafeBufferPointer(rebasing: $0[..<count])) } }
        if count == 0 || count < 0 && errno == ECONNRESET { return false }
        if count < 0, errno != EAGAIN, errno != EINTR { throw SystemCallError("recv") }
        return true
    }

    /// Waits until something can be done, and returns whether that was before the deadline.
    package func wait(for readiness: Readiness, before deadline: Deadline?) throws(SystemCallError) -> Bool {
        let events = readiness == .input ? POLLIN : readiness == .output ? POLLOUT : POLLIN | POLLOUT
        while true {
            var poller = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&poller, 1, Self.milliseconds(until: deadline))
            if count > 0 { return true }
            if count < 0, errno != EINTR { throw SystemCallError("poll") }
            if let deadline, deadline <= .now { return false }
        }
    }

    /// The timeout for poll(2) until something must be checked; nil: forever.
    public static func milliseconds(until instant: Deadline?) -> Int32 {
        guard let instant else { return -1 }
        let left = (instant - .now) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), 1e9))
    }
}
