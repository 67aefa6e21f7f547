internal import Glibc
public import Linux
internal import Synchronization

/// The bytes on their way to the daemon: whole lines. One thread fills and empties it; another may put the last words of a
/// process there that it ends, such as a script's.
///
/// Whoever sends has the bytes for himself meanwhile, so no lock is held while the kernel is called.
public final class Outbox: Sendable {
    private struct State {
        /// What was begun to be sent.
        var begun: ArraySlice<UInt8> = []
        /// What came since.
        var bytes: [UInt8] = []
        var isSending = false

        /// The bytes that are to be sent next; nil where there are none, or another thread sends.
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

    /// An outbox with nothing in it.
    public init() {}

    /// - Parameter lines: each with its line break.
    public func append(_ lines: some Collection<UInt8>) {
        state.withLock { $0.bytes.append(contentsOf: lines) }
    }

    /// Whether all has been sent.
    public var isEmpty: Bool { state.withLock { $0.begun.isEmpty && $0.bytes.isEmpty } }

    /// Sends what the kernel takes now.
    /// - Parameter send: sends some of the bytes, and says how many.
    public func flush(_ send: (ArraySlice<UInt8>) throws(SystemCallError) -> Int) throws(SystemCallError) {
        guard let bytes = state.withLock({ $0.take() }) else { return }
        do throws(SystemCallError) {
            let count = try send(bytes)
            state.withLock { $0.giveBack(bytes.dropFirst(count)) }
        } catch {
            state.withLock { $0.giveBack(bytes) }
            throw error
        }
    }

    /// Sends all, as far as that can be done within a time, in milliseconds: the last words of a process. Another
    /// thread that is sending comes to its end first.
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
            // Half a line may be sent, so that no other may follow.
            guard bytes.isEmpty else { return }
            state.withLock { $0.giveBack([]) }
        }
    }

    /// Nil where it is too late, or the daemon is gone.
    private static func send(
        _ bytes: ArraySlice<UInt8>,
        to socket: Int32,
        before end: ContinuousClock.Instant
    ) -> Int? {
        var poller = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        let left = DaemonConnection.milliseconds(until: end)
        guard left > 0, poll(&poller, 1, left) > 0 else { return nil }
        let count = bytes.withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Forgets what was not sent: half a line may be among it.
    public func clear() {
        state.withLock {
            $0.begun = []
            $0.bytes = []
        }
    }
}
