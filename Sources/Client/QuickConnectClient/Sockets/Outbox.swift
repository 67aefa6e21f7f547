internal import Glibc
package import Linux
internal import Synchronization

/// The bytes on their way to the daemon: whole lines. One thread fills and empties it; another may add the last lines
/// of a process that it ends, such as a script.
///
/// A thread that sends takes the bytes out first, so no lock is held during the system call.
public final class Outbox: Sendable {
    private struct State {
        /// Bytes whose sending has begun.
        var begun: ArraySlice<UInt8> = []
        /// Bytes added since.
        var bytes: [UInt8] = []
        var isSending = false

        /// The bytes to send next; nil if there are none, or another thread is sending.
        mutating func take() -> ArraySlice<UInt8>? {
            if begun.isEmpty {
                begun = bytes[...]
                bytes = []
            }
            guard !isSending, !begun.isEmpty else { return nil }
            isSending = true
            defer { begun = [] }
            return begun
        }

        mutating func giveBack(_ rest: ArraySlice<UInt8>) {
            begun = rest
            isSending = false
        }
    }

    private let state = Mutex(State())

    /// An empty outbox.
    public init() {}

    /// - Parameter lines: each including its line break.
    public func append(_ lines: some Collection<UInt8>) {
        state.withLock { $0.bytes.append(contentsOf: lines) }
    }

    /// Whether everything has been sent.
    public var isEmpty: Bool { state.withLock { $0.begun.isEmpty && $0.bytes.isEmpty } }

    /// How many bytes have not been sent.
    public var count: Int { state.withLock { $0.begun.count + $0.bytes.count } }

    /// Sends what the kernel takes now.
    /// - Parameter send: sends some of the bytes, and returns how many.
    package func flush(_ send: (ArraySlice<UInt8>) throws(SystemCallError) -> Int) throws(SystemCallError) {
        guard let bytes = state.withLock({ $0.take() }) else { return }
        do throws(SystemCallError) {
            let count = try send(bytes)
            state.withLock { $0.giveBack(bytes.dropFirst(count)) }
        } catch {
            state.withLock { $0.giveBack(bytes) }
            throw error
        }
    }

    /// Sends everything, as far as possible within a time in milliseconds: the last lines of a process. If another
    /// thread is sending, it finishes first.
    public func sendLastWords(to socket: Int32, within milliseconds: Int) {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while ContinuousClock.now < end, !isEmpty {
            guard var bytes = state.withLock({ $0.take() }) else {
                poll(nil, 0, 1)
                continue
            }
            while !bytes.isEmpty, let count = Self.send(bytes, to: socket, before: end) {
                bytes = bytes.dropFirst(count)
            }
            // Half a line may have been sent, so no other line may follow.
            guard bytes.isEmpty else { return }
            state.withLock { $0.giveBack([]) }
        }
    }

    /// Nil if it is too late, or the daemon is gone.
    private static func send(
        _ bytes: ArraySlice<UInt8>,
        to socket: Int32,
        before end: ContinuousClock.Instant
    ) -> Int? {
        var poller = pollfd(fd: socket, events: Int16(POLLIN | POLLOUT), revents: 0)
        let left = DaemonConnection.milliseconds(until: end)
        guard left > 0, poll(&poller, 1, left) > 0 else { return nil }
        // The daemon reads nothing more of a client that does not read its replies.
        if poller.revents & Int16(POLLIN) != 0, !discardInput(of: socket) { return nil }
        let count = bytes.withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// - Returns: false if the daemon is gone.
    private static func discardInput(of socket: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
        }
    }

    /// Drops what was not sent, because it may begin with half a line.
    public func clear() {
        state.withLock {
            $0.begun = []
            $0.bytes = []
        }
    }
}
