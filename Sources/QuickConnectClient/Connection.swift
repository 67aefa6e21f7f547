import Glibc

/// A connection to the daemon: lines out, lines in. For one thread; it blocks only as long as it is told to.
public final class Connection {
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
    public init(path: String) throws(SocketFailure) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketFailure("socket") }
        let code = Self.connect(descriptor, path)
        guard code == 0 else {
            Glibc.close(descriptor)
            throw SocketFailure("connect", code)
        }
    }

    deinit { Glibc.close(descriptor) }

    private static func connect(_ descriptor: Int32, _ path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                while Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size)) != 0 {
                    if errno != EINTR { return errno }
                }
                return 0
            }
        }
    }

    /// Sends a line; its line break is added. Waits while the daemon does not read, until the deadline.
    public func send(_ line: String, before deadline: Deadline? = nil) throws(SocketFailure) {
        var rest = Array("\(line)\n".utf8)[...]
        while !rest.isEmpty {
            let count = try sendSome(rest)
            rest = rest.dropFirst(count)
            if count == 0, try !wait(for: POLLOUT, before: deadline) { throw SocketFailure("send", ETIMEDOUT) }
        }
    }

    /// The next line, as soon as it is whole.
    public func receive(before deadline: Deadline? = nil) throws(SocketFailure) -> Received {
        while true {
            if let line = reader.next() { return .line(line) }
            guard try wait(for: POLLIN, before: deadline) else { return .timedOut }
            guard try fill() else { return .closed }
        }
    }

    // MARK: For a loop that waits for more than this connection

    /// Sends as much as the kernel takes now, and says how much that was.
    public func sendSome(_ bytes: ArraySlice<UInt8>) throws(SocketFailure) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw SocketFailure("send") }
        }
    }

    /// The lines that are there now; nil once the daemon has closed the connection and all are taken.
    public func receiveSome() throws(SocketFailure) -> [[UInt8]]? {
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
    private func fill() throws(SocketFailure) -> Bool {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { buffer.withUnsafeBytes { reader.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) } }
        if count == 0 || count < 0 && errno == ECONNRESET { return false }
        if count < 0, errno != EAGAIN, errno != EINTR { throw SocketFailure("recv") }
        return true
    }

    /// Whether the descriptor became ready before the deadline.
    private func wait(for events: Int32, before deadline: Deadline?) throws(SocketFailure) -> Bool {
        while true {
            var poller = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&poller, 1, Self.milliseconds(until: deadline))
            if count > 0 { return true }
            if count < 0, errno != EINTR { throw SocketFailure("poll") }
            if let deadline, deadline <= .now { return false }
        }
    }
}
