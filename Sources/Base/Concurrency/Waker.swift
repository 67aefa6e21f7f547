package import Glibc

/// Lets a thread sleep until a descriptor is ready or another thread wakes it: a pair of sockets for poll(2).
///
/// Checking flags every few milliseconds would also work, but would never let the processor sleep.
package final class Waker: Sendable {
    /// Which event of a descriptor ends the sleep.
    package enum Interest: Sendable {
        /// It is readable, or at its end.
        case input
        /// The other side is gone.
        case end
    }

    private let reading: Int32
    private let writing: Int32

    /// Throws if the process has no descriptors left.
    package init() throws(Interruption) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw Interruption(
                .unavailable,
                "no descriptors for a thread to sleep on: \(String(cString: strerror(errno)))"
            )
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Wakes the sleeping thread, or prevents its next sleep. Called on any thread; never blocks.
    package func wake() {
        var byte: UInt8 = 0
        // If the buffer is full, the thread wakes anyway.
        _ = write(writing, &byte, 1)
    }

    /// Sleeps until the descriptor is ready, the waker is used, or the time comes.
    /// - Returns: whether it was the descriptor.
    package func sleep(
        watching descriptor: Int32 = -1,
        for interest: Interest = .input,
        until end: ContinuousClock.Instant?
    ) -> Bool {
        // A negative descriptor is ignored; its end is reported without being requested.
        sleep(
            watching: pollfd(fd: descriptor, events: interest == .input ? Int16(POLLIN) : 0, revents: 0),
            until: end
        )
    }

    /// Sleeps until the watched event comes, the waker is used, or the time comes.
    /// - Returns: whether the watched event has come.
    package func sleep(watching entry: pollfd, until end: ContinuousClock.Instant?) -> Bool {
        var entries = [entry]
        return sleep(watching: &entries, until: end)
    }

    /// The same for several descriptors; their `revents` have the results.
    /// - Returns: whether one of them has an event.
    package func sleep(watching entries: inout [pollfd], until end: ContinuousClock.Instant?) -> Bool {
        entries.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
        while poll(&entries, nfds_t(entries.count), Self.milliseconds(until: end)) < 0, errno == EINTR {}
        if let own = entries.popLast(), own.revents != 0 { drain() }
        return entries.contains { $0.revents != 0 }
    }

    /// Rounded up, so that the time has come afterwards; -1 means forever.
    private static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
        guard let end else { return -1 }
        let left = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
        return Int32(min(left.rounded(.up), Double(Int32.max)))
    }

    /// For a thread that sleeps on others, too: readable once it is woken, until ``clear()``.
    package var descriptor: Int32 { reading }

    /// It has been woken, and may be again.
    package func clear() { drain() }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) > 0 {}
    }
}
