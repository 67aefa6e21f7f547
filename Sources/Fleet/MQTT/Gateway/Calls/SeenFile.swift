import Glibc
import Linux

/// Recent calls, and what must be written of them for a restarted gateway: a line is written before each call is done. A
/// killed process loses none, because the kernel has the line.
///
/// Nothing here waits for the disk, except at the start: ``takeJob(at:)`` is for another thread, and the call waits for
/// that.
///
/// Times are seconds since the machine was started, because the time of day may be changed, by years on a machine
/// without its own clock. After a restart of the machine, stored times never make a call look too old: a time in the
/// future counts as now, and a time in the past is at least that old, since the machine has been running that long.
final class SeenFile {
    typealias Instant = ContinuousClock.Instant
    /// Writes, and returns what is wrong.
    typealias Job = @Sendable () -> String?

    private let writer: SeenWriter?
    private var seen: SeenCalls
    private var unwritten = ""
    private var lines = 0
    private let most: Int
    private let complain: (String) -> Void
    private let now: () -> Int64
    /// How often writing has failed since it last succeeded.
    private var failures = 0
    /// Before that it is not tried again.
    private var retryAt: Instant?

    /// How often the same lines are tried at once.
    private static let maxAttempts = 3
    private static let pause = Duration.seconds(10)

    /// - Parameters:
    ///   - path: the file; nil stores nothing.
    ///   - now: the time, in seconds of a clock that is never set.
    init(
        _ path: String?,
        most: Int = 10_000,
        lifetime: Int64,
        now: @escaping () -> Int64 = SeenFile.uptime,
        complain: @escaping (String) -> Void
    ) {
        writer = path.map(SeenWriter.init)
        self.most = most
        self.now = now
        self.complain = complain
        seen = SeenCalls(most: most, lifetime: lifetime)
        if let path, let writer {
            read(path)
            lines = seen.count
            while didWrite(writer.replace(with: seen), at: .now) {}
        }
    }

    /// Records a call, and returns whether it is new.
    func take(_ key: CallKey, of caller: String) -> Bool {
        let call = SeenCalls.Call(key: key, caller: caller, seconds: now())
        guard seen.take(key, of: caller, at: call.seconds) else { return false }
        if writer != nil { unwritten += call.line }
        return true
    }

    /// A call that was not done: its sender may try again.
    func forget(_ key: CallKey, of caller: String) { seen.forget(key, of: caller) }

    /// Seconds since the machine was started.
    static func uptime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec)
    }

    private func read(_ path: String) {
        guard case .success(let text) = FileText.exact(path, maximumBytes: 16 << 20) else { return }
        // A line that was cut off is ignored.
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let seconds = Int64(words[0]), let key = CallKey(words[1]) else { continue }
            _ = seen.take(key, of: String(words[2]), at: min(seconds, now()))
        }
    }

    // MARK: Writing

    /// What must be written before the calls so far are done; nil if nothing, or if the disk has just failed.
    func takeJob(at now: Instant) -> Job? {
        guard let writer, !unwritten.isEmpty || failures > 0 else { return nil }
        let text = unwritten
        unwritten = ""
        if let retryAt, now < retryAt { return nil }
        lines += text.utf8.count(where: { $0 == UInt8(ascii: "\n") })
        guard failures > 0 || lines > 4 * most else { return { writer.append(text) } }
        // Without the lines of forgotten calls, and without half a line.
        lines = seen.count
        let seen = seen
        return { writer.replace(with: seen) }
    }

    /// - Parameter problem: what the job has returned.
    /// - Returns: whether the same calls should be tried again at once.
    func didWrite(_ problem: String?, at now: Instant) -> Bool {
        guard let problem else {
            (failures, retryAt) = (0, nil)
            return false
        }
        failures += 1
        guard failures % Self.maxAttempts == 0 else { return true }
        retryAt = now + Self.pause
        complain("\(problem) (\(Self.maxAttempts) attempts); a gateway that is restarted may do a call twice")
        return false
    }
}
