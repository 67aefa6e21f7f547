import Logging
import QuickConnect

/// Writes one line for each call that touches a device, and for each call that is refused: who, what, whether it was
/// allowed, how it ended, and after how many seconds.
///
///     audit: command=playSound allowed=yes outcome=ok seconds=0.812 uid=1000 pid=4711 unit=session-2.scope
///     program=quickconnect arguments=[0]
///
/// (one line). `unit` is the systemd unit of the caller's process and `program` the kernel's name of it, a script's
/// being its file's name.
struct AuditLog: CallObserver {
    /// Nil: no lines are wanted.
    let journal: Journal?
    let failures: FailureLogger
    /// Told that a device may have begun or ended something.
    let changed: @Sendable () -> Void

    /// What callers say is cut here, and says so.
    private static let mostBytes = 200

    func failed(_ call: borrowing Call, with error: CommandError) { failures.failed(call, with: error) }

    func ended(_ call: borrowing Call, after time: Duration) {
        changed()
        guard let journal else { return }
        let error = call.error
        var line =
            "audit: command=\(Self.word(Self.cut(call.command))) allowed=\(error?.code == .denied ? "no" : "yes")"
        line += " outcome=\(error?.code.rawValue ?? "ok") seconds=\(Self.seconds(time)) \(Self.words(call.session))"
        if !call.arguments.isEmpty { line += " arguments=\(Self.arguments(call.arguments))" }
        journal.write(line, level: .notice)
    }

    private static func seconds(_ time: Duration) -> String {
        let milliseconds = Int((time / .milliseconds(1)).rounded())
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    private static func words(_ session: Session) -> String {
        switch session.caller.origin {
        case .peer(let uid, let pid, _): "uid=\(uid) pid=\(pid)\(words(session.process))"
        case .gateway(let name, let user): "gateway=\(word(name)) user=\(word(user))"
        case .daemon: "daemon=yes"
        }
    }

    private static func words(_ process: CallingProcess?) -> String {
        let unit = process?.unit.map { " unit=\(word($0))" } ?? ""
        return unit + (process?.program.map { " program=\(word($0))" } ?? "")
    }

    private static func arguments(_ arguments: [JSONValue]) -> String {
        cut(JSONValue.array(arguments).text)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > mostBytes else { return text }
        return "\(String(decoding: text.utf8.prefix(mostBytes), as: UTF8.self))…(\(text.utf8.count) bytes)"
    }

    /// A value as it is where it is one plain word, else in quotes: nobody's name may look like another field.
    static func word(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
        return isPlain ? text : JSONValue.string(text).text
    }
}
