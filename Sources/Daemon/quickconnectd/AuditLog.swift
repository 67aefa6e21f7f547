import Concurrency
import JSON
import Logging
import QuickConnect
import Synchronization

/// Writes one line for each call that touches a device, and for each call that is refused: who, what, whether it was
/// allowed, how it ended, and after how many seconds.
///
///     audit: command=playSound allowed=yes outcome=ok seconds=0.812 uid=1000 pid=4711 unit=session-2.scope
///     program=quickconnect arguments=[0]
///
/// (one line). `unit` is the systemd unit of the caller's process and `program` the kernel's name of it, a script's
/// being its file's name.
///
/// Nobody can flood it: for each user and second, only a limited number of lines is written, and then how many were
/// left out.
final class AuditLog: CallObserver {
    /// Takes a line.
    private let write: @Sendable (String) -> Void
    private let isOn: Atomic<Bool>
    private let failures: FailureLogger
    private let clock: any AlarmClock
    /// Told that a device may have begun or ended something.
    private let changed: @Sendable () -> Void
    private let counts = Mutex<[Count.Key: Count]>([:])

    /// The lines of one user in one second.
    private struct Count {
        struct Key: Hashable {
            var caller: String
            var isRefused: Bool
        }

        var written = 0
        var leftOut = 0
    }

    private static let maxLines = 200
    private static let maxRefusals = 10

    /// - Parameters:
    ///   - isOn: whether lines are wanted.
    ///   - write: takes a line.
    ///   - changed: told that a device may have begun or ended something.
    init(
        isOn: Bool = true,
        write: @escaping @Sendable (String) -> Void,
        failures: FailureLogger,
        clock: any AlarmClock,
        changed: @escaping @Sendable () -> Void
    ) {
        self.isOn = Atomic(isOn)
        self.write = write
        self.failures = failures
        self.clock = clock
        self.changed = changed
    }

    /// Whether lines are wanted from now on.
    func turn(on isOn: Bool) { self.isOn.store(isOn, ordering: .relaxed) }

    /// Caller-supplied text is cut at this length, marked with "…".
    private static let maxBytes = 200

    func failed(_ call: borrowing Call, with error: CommandError) { failures.failed(call, with: error) }

    func ended(_ call: borrowing Call, after time: Duration) {
        changed()
        let error = call.error
        let isRefused = call.isRefused || error?.code == .denied
        guard isOn.load(ordering: .relaxed), hasRoom(for: call.connection.caller, isRefused: isRefused) else { return }
        var line =
            "audit: command=\(Self.word(Self.cut(call.command))) allowed=\(isRefused ? "no" : "yes")"
        line += " outcome=\(error?.code.rawValue ?? "ok") seconds=\(Self.seconds(time)) \(Self.words(call.connection))"
        let arguments = Self.arguments(call)
        if !arguments.isEmpty { line += " arguments=\(arguments)" }
        write(line)
    }

    /// Whether one more line of that user may be written in this second.
    private func hasRoom(for caller: Caller, isRefused: Bool) -> Bool {
        let key = Count.Key(caller: Self.user(caller), isRefused: isRefused)
        let (hasRoom, isFirst) = counts.withLock { counts in
            var count = counts[key] ?? Count()
            defer { counts[key] = count }
            guard count.written < (isRefused ? Self.maxRefusals : Self.maxLines) else {
                count.leftOut += 1
                return (false, false)
            }
            count.written += 1
            return (true, count.written == 1)
        }
        if isFirst { clock.ring(after: .seconds(1)) { [weak self] in self?.endSecond(of: key) } }
        return hasRoom
    }

    private func endSecond(of key: Count.Key) {
        let leftOut = counts.withLock { $0.removeValue(forKey: key)?.leftOut ?? 0 }
        guard leftOut > 0 else { return }
        let what = key.isRefused ? "refused calls" : "calls"
        write("audit: \(leftOut) more \(what) of \(key.caller) within a second")
    }

    private static func user(_ caller: Caller) -> String {
        switch caller.origin {
        case .peer(let uid, _, _): "uid=\(uid)"
        case .gateway(let name, let user, _): "gateway=\(word(name)) user=\(word(user))"
        case .daemon: "daemon=yes"
        }
    }

    private static func seconds(_ time: Duration) -> String {
        let milliseconds = Int((time / .milliseconds(1)).rounded())
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    private static func words(_ connection: any CallConnection) -> String {
        let caller = connection.caller
        var words = user(caller)
        if case .peer(_, let pid, _) = caller.origin { words += " pid=\(pid)" }
        return words + Self.words(connection.process)
    }

    private static func words(_ process: CallingProcess?) -> String {
        let unit = process?.unit.map { " unit=\(word($0))" } ?? ""
        return unit + (process?.program.map { " program=\(word($0))" } ?? "")
    }

    /// Further arguments are not examined.
    private static let maxArguments = 256

    /// The arguments as a JSON array, cut; nothing where all of them were left out.
    private static func arguments(_ call: borrowing Call) -> String {
        // Optional parameters that were left out are null at the end.
        var count = min(call.argumentCount, maxArguments)
        while count > 0, call.argument(count - 1).isNull { count -= 1 }
        guard count > 0 else { return "" }
        var text = "["
        for index in 0..<count where text.utf8.count <= maxBytes {
            if index > 0 { text += "," }
            text += json(call.argument(index))
        }
        guard text.utf8.count > maxBytes else { return text + "]" }
        return "\(String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self))…"
    }

    /// An argument as JSON, or as much of it as is shown.
    private static func json(_ argument: Message) -> String {
        switch argument {
        case .value(let value): value.text
        case .text(let text):
            text.withBytes { String(decoding: $0.prefix(maxBytes + 1), as: UTF8.self) }
        }
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxBytes else { return text }
        return "\(String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self))…(\(text.utf8.count) bytes)"
    }

    /// A value unchanged if it is one plain word, otherwise quoted, so that no name can look like another field.
    static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
        return isPlain ? text : JSONValue.string(text).text
    }
}

/// Logs the calls that fail for a reason that the owner of the device can fix. A caller's own mistakes are reported to
/// the caller only, so that nobody can fill the log with them; refused calls are in the ``AuditLog``.
struct FailureLogger: CallObserver {
    let logger: Logger

    func failed(_ call: borrowing Call, with error: CommandError) {
        let level: Logger.Level
        switch error.code {
        case .internal: level = .error
        case .scriptFailed, .timeout: level = .notice
        default: level = .debug
        }
        let caller = call.caller
        logger.log(
            level: level,
            "\(call.command): \(error.code.rawValue): \(error.placedMessage)",
            metadata: ["caller": "\(caller)"]
        )
    }
}
