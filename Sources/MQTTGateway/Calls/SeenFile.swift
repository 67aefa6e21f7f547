import Glibc
import Linux

/// Stores recent calls for a restarted gateway: a line is written before each call is done. A killed process loses
/// none, because the kernel has the line.
///
/// Times are seconds since the machine was started, because the time of day may be changed, by years on a machine
/// without its own clock. After a restart of the machine, stored times never make a call look too old: a time in the
/// future counts as now, and a time in the past is at least that old, since the machine has been running that long.
final class SeenFile {
    private let path: String?
    private var seen: SeenCalls
    private var descriptor: Int32 = -1
    private var lines = 0
    private let most: Int
    private let complain: (String) -> Void
    private let now: () -> Int64

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
        self.path = path
        self.most = most
        self.now = now
        self.complain = complain
        seen = SeenCalls(most: most, lifetime: lifetime)
        read()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Records a call, and returns whether it is new.
    func take(_ key: CallKey, of caller: String) -> Bool {
        let call = SeenCalls.Call(key: key, caller: caller, seconds: now())
        guard seen.take(key, of: caller, at: call.seconds) else { return false }
        append(Self.line(call))
        return true
    }

    /// Seconds since the machine was started.
    static func uptime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec)
    }

    /// No caller's name contains a space.
    private static func line(_ call: SeenCalls.Call) -> String { "\(call.seconds) \(call.key.text) \(call.caller)\n" }

    private func read() {
        guard let path else { return }
        if case .success(let text) = FileText.read(path, maximumBytes: 16 << 20) {
            // A line that was cut off is ignored.
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 3, let seconds = Int64(words[0]), let key = CallKey(words[1]) else { continue }
                _ = seen.take(key, of: String(words[2]), at: min(seconds, now()))
            }
        }
        writeAnew()
    }

    /// Rewrites the file without the lines of forgotten calls.
    private func writeAnew() {
        guard let path else { return }
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        lines = seen.count
        do throws(SystemCallError) {
            try FileText.replace(path, with: seen.all.map(Self.line).joined())
            descriptor = try SystemCallError.check("open") { open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW) }
        } catch {
            complain("\(path): \(error); a gateway that is restarted may do a call twice")
        }
    }

    private func append(_ line: String) {
        guard descriptor >= 0 else { return }
        let code = Descriptor.write(line, to: descriptor)
        lines += 1
        if code != 0 {
            complain("\(path ?? ""): \(SystemCallError.text(code)); a gateway that is restarted may do a call twice")
            close(descriptor)
            descriptor = -1
        } else if lines > 4 * most {
            writeAnew()
        }
    }
}
