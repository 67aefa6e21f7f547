import Concurrency
import JSON
import Linux
import QuickConnect
import Synchronization
import UnixSocketListener

/// The line in `systemctl status`: the daemon's state. Updated when it changes, at most twice a second.
final class StatusLine: Sendable {
    private struct State {
        var controller: FrontController?
        var listener: UnixSocketListener?
        var isDue = false
        var told = ""
    }

    private let manager: ServiceManager
    private let clock: any AlarmClock
    private let devices: [any Device]
    private let state = Mutex(State())

    private static let delay = Duration.milliseconds(500)
    private static let busyDelay = Duration.seconds(2)

    init(_ manager: ServiceManager, _ devices: [any Device], clock: any AlarmClock) {
        self.manager = manager
        self.devices = devices
        self.clock = clock
    }

    /// The sources of the line, apart from the devices.
    func show(_ controller: FrontController, _ listener: UnixSocketListener) {
        state.withLock { ($0.controller, $0.listener) = (controller, listener) }
    }

    /// The state may have changed.
    func changed() { tell(after: Self.delay) }

    /// Something is wrong; shown until the next change.
    func tell(trouble: String) {
        state.withLock { $0.told = trouble }
        manager.status(trouble)
    }

    private func tell(after delay: Duration) {
        guard manager.isThere else { return }
        let isFirst = state.withLock { state in
            defer { state.isDue = true }
            return !state.isDue
        }
        if isFirst { clock.ring(after: delay) { self.tell() } }
    }

    private func tell() {
        state.withLock { $0.isDue = false }
        let (line, isBusy) = composed
        let isNew = state.withLock { state in
            defer { state.told = line }
            return state.told != line
        }
        if isNew { manager.status(line) }
        // A sound ends by itself, without the end of a call.
        if isBusy { tell(after: Self.busyDelay) }
    }

    /// Such as `28 commands, 3 connections; plays 1; records 2`.
    var line: String { composed.line }

    /// The line, and whether it may change without a notification.
    private var composed: (line: String, isBusy: Bool) {
        let (controller, listener) = state.withLock { ($0.controller, $0.listener) }
        let commands = Self.count(controller?.currentTable.count ?? 0, "command")
        var line = "\(commands), \(Self.count(listener?.connectionCount ?? 0, "connection"))"
        var isBusy = false
        for (member, verb) in [("playing", "plays"), ("recording", "records"), ("vibrating", "vibrates")] {
            let items = devices.reduce(0) { $0 + ($1.state()[member]?.arrayValue?.count ?? 0) }
            guard items > 0 else { continue }
            line += "; \(verb) \(items)"
            isBusy = true
        }
        return (line, isBusy)
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
