public import Glibc

/// Lets a thread sleep until there is something to read, and others wake it: a pair of sockets for poll(2).
///
/// A thread that looks at flags every few milliseconds would do the same and never let the processor rest.
public final class Waker: Sendable {
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

    /// Sleeps until the descriptor can be read, somebody wakes it, or the time comes.
    /// - Returns: whether the descriptor can be read, or is at its end.
    public func sleep(watching descriptor: Int32 = -1, until end: ContinuousClock.Instant?) -> Bool {
        // A negative descriptor is left out.
        var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
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
