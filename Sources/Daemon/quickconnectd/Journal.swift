import Concurrency
import Glibc
import Linux
import Logging
import QuickConnect
import Synchronization

/// Writes the log to standard error, one line a message, on a thread of its own: a log that blocks (a full pipe, a
/// stopped journal) does not block callers. Messages that no longer fit are counted, and the count is logged.
final class Journal: Sendable {
    private static let capacity = 4096
    private static let maxLine = 32 << 10

    private let thread = SideThread<Void>("qc-log", wake: {})
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let repeated = Mutex(RepeatedLines())
    private let lowest = Atomic<Int>(2)
    /// Under systemd the journal keeps the time, and reads the level from a prefix (sd-daemon(3)).
    let isForSystemd: Bool

    init(environment: [String: String]) {
        isForSystemd = OwnProcess.logsToJournal(environment)
    }

    /// What is less important is not logged.
    var level: Logger.Level {
        get { Logger.Level.allCases[lowest.load(ordering: .relaxed)] }
        set { lowest.store(Logger.Level.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
    }

    /// Writes a line, with its level or its time in front.
    func write(_ text: String, level: Logger.Level) {
        write(stamped(Self.line(text), level))
    }

    /// Writes a line, unless the same was written often within the last minute.
    func writeOnceInAWhile(_ text: String, level: Logger.Level) {
        let (isWritten, leftOut) = repeated.withLock { $0.take(text, at: .now) }
        guard isWritten else { return }
        write(leftOut > 0 ? "\(text) (\(leftOut) more of this line were left out)" : text, level: level)
    }

    /// One line, whatever callers have put into it, and short enough that the journal does not split it: the journal
    /// would look for a level in each piece (LineMax= in journald.conf(5), 48 KiB).
    private static func line(_ text: String) -> String {
        let escaped = text.escapingControls
        guard escaped.utf8.count > maxLine else { return escaped }
        return "\(String(decoding: escaped.utf8.prefix(maxLine), as: UTF8.self))…(\(escaped.utf8.count) bytes)"
    }

    private func stamped(_ text: String, _ level: Logger.Level) -> String {
        isForSystemd
            ? "<\((LogLevel(rawValue: level.rawValue) ?? .info).syslog)>\(text)" : "\(ISOTime.now()) \(level) \(text)"
    }

    private func write(_ line: String) {
        guard waiting.load(ordering: .relaxed) < Self.capacity else {
            dropped.add(1, ordering: .relaxed)
            return
        }
        waiting.add(1, ordering: .relaxed)
        thread.run(for: "") {
            let missed = self.dropped.exchange(0, ordering: .relaxed)
            if missed > 0 {
                let text = self.stamped("\(missed) log lines before this one were dropped", .warning)
                Descriptor.write("\(text)\n", to: STDERR_FILENO)
            }
            Descriptor.write("\(line)\n", to: STDERR_FILENO)
            self.waiting.subtract(1, ordering: .relaxed)
        }
    }

    private static let patience = Duration.seconds(2)

    /// Writes what waits. Who reads the log may have stopped reading: a service must end all the same.
    func close() async {
        let written = Promise<Void>()
        thread.run(for: "") { written.fulfil(()) }
        try? await written.value(before: .now + Self.patience)
    }
}

/// swift-log's messages as lines of the ``Journal``: `2026-11-21T10:00:00Z warning sound: message (caller=uid 1000)`.
struct JournalLogHandler: LogHandler {
    let journal: Journal
    let label: String
    /// The same for all loggers, which a reload may change.
    var logLevel: Logger.Level {
        get { journal.level }
        nonmutating set { journal.level = newValue }
    }
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, last in last }
        let pairs = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let suffix = pairs.isEmpty ? "" : " (\(pairs.joined(separator: ", ")))"
        let line = "\(label): \(event.message)\(suffix)"
        // What callers log themselves is of a lower level, and none of it is left out.
        if event.level >= .notice {
            journal.writeOnceInAWhile(line, level: event.level)
        } else {
            journal.write(line, level: event.level)
        }
    }
}

/// Limits the lines that a failing device would write with each call: after ten of the same within a minute, the rest
/// is only counted. A value; the caller tells the time.
struct RepeatedLines {
    private var seen: [String: LineLimit] = [:]

    /// Lines that all differ cost no more memory than this many.
    private static let maxTexts = 100

    /// Counts a line.
    /// - Returns: whether to write it, and how many of the same were left out since the last one.
    mutating func take(_ text: String, at now: LineLimit.Instant) -> (isWritten: Bool, leftOut: Int) {
        var limit = seen[text] ?? LineLimit(10, in: .seconds(60))
        if seen[text] == nil, seen.count >= Self.maxTexts {
            seen = seen.filter { !$0.value.isOver(at: now) }
            if seen.count >= Self.maxTexts { seen = [:] }
        }
        let leftOut = limit.takeUntold(at: now) ?? 0
        defer { seen[text] = limit }
        return (limit.takes(at: now), leftOut)
    }
}
