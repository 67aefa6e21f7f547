import Glibc
import Linux

/// Keeps what calls came of late, so that a gateway that is started anew knows them: before a call is done, a line of it is written.
/// A process that is killed loses none, for the kernel has the line.
///
/// Times are those of the clock that runs since the machine was started, for the time of day is set, by years on a machine without
/// a clock of its own. A time of before a restart of the machine is never too old by it: what lies ahead is taken for now, and what
/// does not is at least as old as it says, for the machine runs that long.
final class SeenFile {
    private let path: String?
    private var seen: SeenCalls
    private var descriptor: Int32 = -1
    private var lines = 0
    private let most: Int
    private let complain: (String) -> Void
    private let now: () -> Int64

    /// - Parameters:
    ///   - path: nil keeps nothing.
    ///   - now: the time, in seconds of a clock that nobody sets.
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

    /// Remembers a call, and says whether it is new.
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

    /// No caller's name has a space.
    private static func line(_ call: SeenCalls.Call) -> String { "\(call.seconds) \(call.key.text) \(call.caller)\n" }

    private func read() {
        guard let path else { return }
        if case .success(let text) = FileText.read(path, maximumBytes: 16 << 20) {
            // A line that was cut off is none.
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 3, let seconds = Int64(words[0]), let key = CallKey(words[1]) else { continue }
                _ = seen.take(key, of: String(words[2]), at: min(seconds, now()))
            }
        }
        writeAnew()
    }

    /// Without the lines of calls that are forgotten.
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
