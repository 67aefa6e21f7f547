internal import CLinux
internal import Glibc
package import Linux

/// Tells a loop when a time of day has come, and when somebody has set the clock or the machine has slept (timerfd_create(2)).
/// On the loop's thread.
package final class ClockTimer: DescriptorWatcher {
    private let loop: Loop
    private let descriptor: Int32
    private let body: (_ clockWasSet: Bool) -> Void

    /// Beyond it the kernel's nanoseconds overflow.
    private static let latest: Int64 = 9_000_000_000

    /// - Parameter body: is called when the time has come or the clock has been set. Then the next time is to be set.
    package init(on loop: Loop, _ body: @escaping (_ clockWasSet: Bool) -> Void) throws(SystemCallError) {
        let descriptor = try SystemCallError.check("timerfd_create") { qc_clock_timer() }
        self.loop = loop
        self.descriptor = descriptor
        self.body = body
        do throws(SystemCallError) { try loop.watch(descriptor, for: .input, self) } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Waits for another time.
    /// - Parameter seconds: since 1970; nil: only for a clock that is set.
    package func wait(until seconds: Int64?) {
        let code = qc_clock_timer_set(descriptor, max(1, min(seconds ?? Self.latest, Self.latest)))
        // The clock was set after the time was looked at.
        if code != 0, errno == ECANCELED { _ = loop.after(.zero) { [weak self] in self?.body(true) } }
    }

    package func close() {
        loop.forget(descriptor)
        Glibc.close(descriptor)
    }

    package func ready(_ readiness: Readiness) {
        var count: UInt64 = 0
        let length = read(descriptor, &count, MemoryLayout.size(ofValue: count))
        let wasSet = length < 0 && errno == ECANCELED
        if wasSet || length > 0 { body(wasSet) }
    }
}
