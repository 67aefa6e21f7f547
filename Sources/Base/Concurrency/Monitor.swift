internal import Glibc

/// A value that several threads share, and that a thread can wait for.
///
/// Unlike `Mutex`, it has a condition variable. It uses `SuspendingClock`, so that deadlines do not expire while the
/// machine is asleep.
package final class Monitor<State: Sendable>: @unchecked Sendable {
    // Sendable because `state` is only touched while `mutex` is held.
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// What a waiting thread does after it has checked the state.
    package enum Verdict<Value> {
        case go(Value)
        /// Checks again after the next ``notify()``, or at that time, whichever is first.
        case wait(until: SuspendingClock.Instant?)
    }

    package init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func withLock<Value, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Lets every waiting thread check the state again.
    package func notify() {
        pthread_cond_broadcast(condition)
    }

    /// Lets one of the waiting threads check the state, if any of them will do.
    package func notifyOne() {
        pthread_cond_signal(condition)
    }

    /// Blocks this thread until `look` returns `go`.
    package func wait<Value>(_ look: (inout State) -> Verdict<Value>) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch look(&state) {
            case .go(let value): return value
            case .wait(nil): pthread_cond_wait(condition, mutex)
            case .wait(let instant?): sleep(until: instant)
            }
        }
    }

    /// Releases the mutex until a ``notify()``, at the latest until `instant`.
    private func sleep(until instant: SuspendingClock.Instant) {
        let left = max(.zero, SuspendingClock.now.duration(to: instant)).components
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(left.attoseconds / 1_000_000_000)
        end.tv_sec += Int(left.seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_cond_timedwait(condition, mutex, &end)
    }
}
