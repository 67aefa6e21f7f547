internal import Glibc

/// Reports of a service to systemd, over the socket that systemd names (sd_notify(3)). Without one, as in a terminal,
/// everything here does nothing.
///
/// The protocol is a datagram of lines. sd_notify(3) calls it stable, and has an example that implements it.
package struct ServiceManager: Sendable {
    private let address: UnixSocketAddress?
    /// How long systemd waits for a sign of life before it ends the service (WatchdogSec=); nil for no limit.
    package let watchdogTime: Duration?
    /// The last state that ``report(_:)`` has told.
    private var told: String?

    package init(environment: [String: String]) {
        // A path, or with @ in front an abstract name (unix(7)).
        let name = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        address = name.flatMap { try? UnixSocketAddress($0) }
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogTime = isMeant && address != nil && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Whether systemd runs this machine (sd_booted(3)).
    package static var isRunning: Bool { FileText.exists("/run/systemd/system") }

    /// A command of systemd as a person types it; nil where systemd does not run.
    /// - Parameter words: `start quickconnectd`.
    package static func command(_ words: String) -> String? { isRunning ? "sudo systemctl \(words)" : nil }

    /// The command that starts a service, as a person types it; nil where systemd does not run, or has no such unit.
    package static func start(_ unit: String) -> String? { command("start", unit) }

    /// The one that restarts it.
    package static func restart(_ unit: String) -> String? { command("restart", unit) }

    private static func command(_ verb: String, _ unit: String) -> String? {
        let hasUnit = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"].contains {
            FileText.exists("\($0)/systemd/system/\(unit).service")
        }
        return hasUnit ? command("\(verb) \(unit)") : nil
    }

    /// Whether systemd listens.
    package var isThere: Bool { address != nil }

    /// The service is ready: services ordered after it may start.
    package func ready(_ status: String) { send("READY=1\nSTATUS=\(Self.line(status))", mayWait: true) }

    /// The service's state in one line, shown by `systemctl status`.
    package func status(_ text: String) { send("STATUS=\(Self.line(text))") }

    /// The service's state in one line, told if it is another one than before; the first one says that it is ready.
    package mutating func report(_ status: String) {
        guard status != told else { return }
        if told == nil { ready(status) } else { self.status(status) }
        told = status
    }

    /// A sign of life.
    package func feedWatchdog() { send("WATCHDOG=1") }

    package func stopping(_ status: String) { send("STOPPING=1\nSTATUS=\(Self.line(status))") }

    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }

    /// Sends at once or not at all, so that the service is not delayed; but a message that systemd waits for must
    /// arrive.
    private func send(_ message: String, mayWait: Bool = false) {
        guard let address else { return }
        let flags = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, flags, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(message.utf8)
        let options = Int32(MSG_NOSIGNAL) | (mayWait ? 0 : Int32(MSG_DONTWAIT))
        address.withSocketAddress { _ = sendto(descriptor, text, text.count, options, $0, $1) }
    }
}
