internal import Glibc
public import Linux

/// A connection to the daemon: lines out, lines in. For one thread; it blocks only as long as it is told to.
public final class DaemonConnection {
    /// When to stop waiting.
    public typealias Deadline = ContinuousClock.Instant

    /// What came of waiting for a line.
    public enum Received: Sendable, Equatable {
        case line([UInt8])
        case timedOut
        /// The daemon closed the connection.
        case closed
    }

    /// The descriptor, for a poll loop that waits for more than this connection.
    public let descriptor: Int32
    private var reader = LineReader()
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// Connects, or says with which error it was refused.
    /// - Parameter deadline: when to stop waiting for a daemon that does not accept.
    public init(path: String, before deadline: Deadline? = nil) throws(SystemCallError) {
        descriptor = try UnixStreamSocket.connect(to: path, before: deadline)
    }

    deinit { Glibc.close(descriptor) }

    /// Sends a line; its line break is added. Waits while the daemon does not read, until the deadline.
    public func send(_ line: String, before deadline: Deadline? = nil) throws(SystemCallError) {
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            let count = try sendSome(rest)
            rest = rest.dropFirst(count)
            if count == 0, try !wait(for: POLLOUT, before: deadline) { throw SystemCallError("send", ETIMEDOUT) }
        }
    }

    /// The next line, as soon as it is whole.
    public func receive(before deadline: Deadline? = nil) throws(SystemCallError) -> Received {
        while true {
            if let line = reader.next() { return .line(line) }
            guard try wait(for: POLLIN, before: deadline) else { return .timedOut }
            guard try fill() else { return .closed }
        }
    }

    // MARK: For a loop that waits for more than this connection

    /// Sends as much as the kernel takes now, and says how much that was.
    public func sendSome(_ bytes: ArraySlice<UInt8>) throws(SystemCallError) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw SystemCallError("send") }
        }
    }

    /// The lines that are there now; nil once the daemon has closed the connection and all are taken.
    public func receiveSome() throws(SystemCallError) -> [[UInt8]]? {
        guard try fill() else { return nil }
        var lines: [[UInt8]] = []
        while let line = reader.next() { lines.append(line) }
        return lines
    }

    /// How long poll(2) may wait for what must be looked at then; nil: for ever.
    public static func milliseconds(until instant: Deadline?) -> Int32 {
        guard let instant else { return -1 }
        let left = (instant - .now) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), 1e9))
    }

    /// Takes in what is there now. Says false where the daemon has closed the connection.
    private func fill() throws(SystemCallError) -> Bool {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { buffer.withUnsafeBytes { reader.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) } }
        if count == 0 || count < 0 && errno == ECONNRESET { return false }
        if count < 0, errno != EAGAIN, errno != EINTR { throw SystemCallError("recv") }
        return true
    }

    /// Whether the descriptor became ready before the deadline.
    private func wait(for events: Int32, before deadline: Deadline?) throws(SystemCallError) -> Bool {
        while true {
            var poller = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&poller, 1, Self.milliseconds(until: deadline))
            if count > 0 { return true }
            if count < 0, errno != EINTR { throw SystemCallError("poll") }
            if let deadline, deadline <= .now { return false }
        }
    }
}
