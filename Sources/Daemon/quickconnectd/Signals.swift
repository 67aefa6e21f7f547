import CLinux
import Concurrency
import Glibc
import QuickConnect
import Synchronization

/// SIGTERM, SIGINT and SIGHUP, which are delivered to the main thread only. No signal is lost: a signal waits until
/// somebody listens.
final class Signals: Sendable {
    /// Fulfilled by the first SIGTERM or SIGINT.
    let stop = Promise<Void>()
    /// SIGHUP: one element for each; several unhandled ones count as one.
    let hangUps: AsyncStream<Void>
    private let hangUp: AsyncStream<Void>.Continuation
    private static let handled = [SIGTERM, SIGINT, SIGHUP]
    private let isImpatient = Atomic<Bool>(false)

    /// Must be made before any other thread starts, because threads inherit the blocked signals.
    init() {
        (hangUps, hangUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        qc_block_signals(Self.handled, Int32(Self.handled.count))
        signal(SIGPIPE, SIG_IGN)
    }

    /// From now on SIGTERM and SIGINT end the process at once: nobody waits for ``stop``.
    func endAtOnce() { isImpatient.store(true, ordering: .relaxed) }

    /// Stops handling SIGHUP.
    func endHangUps() { hangUp.finish() }

    /// Tells of signals for as long as the process lives.
    func deliver() -> Never {
        while true {
            switch qc_wait_for_signal(Self.handled, Int32(Self.handled.count)) {
            case SIGHUP: hangUp.yield()
            case let signal where signal == SIGTERM || signal == SIGINT:
                // A person who presses Ctrl-C again does not want to wait for the running calls.
                let isFirst = stop.fulfil(())
                if isImpatient.load(ordering: .relaxed) || (signal == SIGINT && !isFirst) { _exit(128 + signal) }
            default: continue
            }
        }
    }
}
