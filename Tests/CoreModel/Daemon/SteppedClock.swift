import Concurrency
import Synchronization

/// Rings when it is told to.
final class SteppedClock: AlarmClock {
    private let alarms = Mutex<[@Sendable () -> Void]>([])

    func ring(after time: Duration, _ body: @escaping @Sendable () -> Void) { alarms.withLock { $0.append(body) } }

    func ringAll() {
        let bodies = alarms.withLock { alarms in
            defer { alarms = [] }
            return alarms
        }
        for body in bodies { body() }
    }
}
