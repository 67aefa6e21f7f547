public import Glibc

/// Lets a thread sleep until a descriptor has something to say, and others wake it: a pair of sockets for poll(2).
///
/// A thread that looks at flags every few milliseconds would do the same and never let the processor rest.
public final class Waker: Sendable {
    /// What of a descriptor ends the sleep.
    public enum Interest: Sendable {
        /// It can be read, or is at its end.
        case input
        /// What is behind it is gone.
        case end
    }

    private let reading: Int32
    private let writing: Int32

    public init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemCallError("socketpair") }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Wakes the thread that sleeps, or lets it not fall asleep the next time. Any thread; never blocks.
    public func wake() {
        var byte: UInt8 = 0
        // Where no byte fits it wakes anyway.
        _ = write(writing, &byte, 1)
    }

    /// Sleeps until the descriptor is as the caller waits for, somebody wakes it, or the time comes.
    /// - Returns: whether it was the descriptor.
    public func sleep(
        watching descriptor: Int32 = -1,
        for interest: Interest = .input,
        until end: ContinuousClock.Instant?
    ) -> Bool {
        // A negative descriptor is left out; its end is told without being asked for.
        sleep(
            watching: pollfd(fd: descriptor, events: interest == .input ? Int16(POLLIN) : 0, revents: 0),
            until: end
        )
    }

    /// Sleeps until what is watched comes, somebody wakes it, or the time does.
    /// - Returns: whether what is watched has come.
    public func sleep(watching entry: pollfd, until end: ContinuousClock.Instant?) -> Bool {
        var entries = [entry]
        return sleep(watching: &entries, until: end)
    }

    /// The same for several descriptors, whose `revents` then say what became of each.
    /// - Returns: whether there is anything about one of them.
    public func sleep(watching entries: inout [pollfd], until end: ContinuousClock.Instant?) -> Bool {
        entries.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
        while poll(&entries, nfds_t(entries.count), Self.milliseconds(until: end)) < 0, errno == EINTR {}
        if let own = entries.popLast(), own.revents != 0 { drain() }
        return entries.contains { $0.revents != 0 }
    }

    /// Rounded up, so that the time has come afterwards; -1 is for ever.
    private static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
        guard let end else { return -1 }
        let left = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
        return Int32(min(left.rounded(.up), Double(Int32.max)))
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) > 0 {}
    }
}
