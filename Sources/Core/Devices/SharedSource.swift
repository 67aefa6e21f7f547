package import Concurrency
internal import Synchronization

/// A source of values that all callers and subscribers share, such as a sensor. It is open only while there are any, on
/// a watched thread, since a driver or a service may hang; at other times the thread is parked.
package protocol SharedSource: AnyObject, Sendable {
    /// What a caller asks for.
    associatedtype Wish: Sendable
    associatedtype Answer: Sendable

    var sharing: Sharing<Wish, Answer> { get }

    /// The doctor's check of it.
    var examination: WatchedExamination { get }

    var hasSubscribers: Bool { get }

    /// Opens the source and reads it until nobody wants it, or it must be opened again. On the thread: no step may take
    /// longer than the deadline, and ``SharedSource/proceed(to:)`` is called before each.
    func read(_ waker: Waker) throws(CommandError)

    /// The source cannot be read. The callers that wait get the error next.
    /// - Parameter isNew: false for the failures that follow, until ``Sharing/found()``.
    func lost(_ error: CommandError, isNew: Bool)
}

/// Who waits for a shared source, and its thread.
package final class Sharing<Wish: Sendable, Answer: Sendable>: Sendable {
    fileprivate struct WaitingCaller: Sendable {
        let wish: Wish
        let caller: Caller
        let promise = Promise<Answer>()
    }

    fileprivate struct State: Sendable {
        var waiters: [WaitingCaller] = []
        /// Whether the thread is working, or about to.
        var isRunning = false
        var isClosed = false
        var isLost = false
    }

    fileprivate let subject: String
    fileprivate let (opening, closing): (String, String)
    fileprivate let thread: WatchedThread
    fileprivate let waker = try? Waker()
    fileprivate let state = Mutex(State())

    /// - Parameters:
    ///   - subject: such as `the accelerometer`.
    ///   - opening: what errors call the first step, such as `connecting to`, and `closing` the last one.
    ///   - name: the name of the thread, at most 9 bytes.
    ///   - deadline: how long a step may take.
    package init(_ subject: String, opening: String, closing: String, thread name: String, deadline: Duration) {
        (self.subject, self.opening, self.closing) = (subject, opening, closing)
        thread = WatchedThread(name: name, subject: subject, deadline: deadline)
    }

    /// The longest sleep: the thread must regularly report that it is alive.
    package static var maxSleep: Duration { .seconds(2) }

    /// What the callers that wait ask for.
    package var wishes: [(wish: Wish, caller: Caller)] { waiters.map { ($0.wish, $0.caller) } }

    fileprivate var waiters: [WaitingCaller] { state.withLock { $0.waiters.filter { !$0.promise.isSettled } } }

    /// Answers the callers for whom `answer` has a value.
    package func settle(_ answer: (Wish) -> Answer?) {
        for waiter in waiters {
            if let value = answer(waiter.wish) { waiter.promise.fulfil(value) }
        }
    }

    /// The source is open.
    /// - Returns: whether it was lost before.
    package func found() -> Bool {
        state.withLock { state in
            defer { state.isLost = false }
            return state.isLost
        }
    }

    /// Ends the thread's sleep: what it reads has changed.
    package func wake() { waker?.wake() }

    fileprivate func fail(_ error: CommandError) {
        for waiter in waiters { waiter.promise.fail(error) }
    }
}

extension SharedSource {
    /// Waits for an answer.
    /// - Parameter time: nil waits as long as the calling task.
    package func answer(
        _ wish: Wish,
        for caller: Caller,
        within time: Duration? = nil
    ) async throws(CommandError) -> Answer {
        let waiter = Sharing<Wish, Answer>.WaitingCaller(wish: wish, caller: caller)
        sharing.state.withLock { $0.waiters.append(waiter) }
        wantedChanged()
        defer {
            sharing.state.withLock { $0.waiters.removeAll { $0.promise === waiter.promise } }
            sharing.wake()
        }
        guard let time else { return try await waiter.promise.value() }
        return try await waiter.promise.value(before: .now + time)
    }

    package var isWanted: Bool { sharing.state.withLock { isWanted($0) } }

    private func isWanted(_ state: Sharing<Wish, Answer>.State) -> Bool {
        !state.isClosed && (hasSubscribers || state.waiters.contains { !$0.promise.isSettled })
    }

    /// Starts the thread, or makes it look at who wants what now.
    package func wantedChanged() {
        let begins = sharing.state.withLock { state in
            guard !state.isRunning, isWanted(state) else { return false }
            state.isRunning = true
            return true
        }
        guard begins else { return sharing.wake() }
        sharing.thread.run("\(sharing.opening) \(sharing.subject)") {
            self.run()
        } orElse: {
            self.giveUp($0)
        }
    }

    /// Closes the source for good; callers that wait get `cancelled`.
    package func close() async {
        sharing.state.withLock { $0.isClosed = true }
        sharing.fail(CommandError(.cancelled, "the daemon is being stopped"))
        sharing.wake()
        await sharing.thread.end()
        await examination.close()
    }

    /// Does nothing: a caller that waits for a value causes no sound or motion that `stop` would end.
    package func stop(mayEnd: @Sendable (Caller) -> Bool) {}

    /// Reports that the thread is alive, and what it does next.
    /// - Returns: false if it was given up meanwhile.
    package func proceed(to step: String) -> Bool { sharing.thread.proceed(to: "\(step) \(sharing.subject)") }

    private func run() {
        guard let waker = sharing.waker else {
            return giveUp(CommandError(.unavailable, "the process has no file descriptors left"))
        }
        repeat {
            while isWanted, proceed(to: sharing.opening) {
                do throws(CommandError) { try read(waker) } catch {
                    fail(error)
                    if isWanted { _ = waker.sleep(until: .now + Sharing<Wish, Answer>.maxSleep) }
                }
            }
        } while !hasEnded()
    }

    private func hasEnded() -> Bool {
        guard proceed(to: sharing.closing) else { return true }
        return sharing.state.withLock { state in
            state.isRunning = isWanted(state)
            return !state.isRunning
        }
    }

    /// It does not answer. Tries again later, as long as somebody subscribes.
    private func giveUp(_ error: CommandError) {
        sharing.state.withLock { $0.isRunning = false }
        fail(error)
        guard isWanted else { return }
        AlarmThread.shared.ring(after: Sharing<Wish, Answer>.maxSleep) { [weak self] in self?.wantedChanged() }
    }

    private func fail(_ error: CommandError) {
        let isNew = sharing.state.withLock { state in
            defer { state.isLost = true }
            return !state.isLost
        }
        lost(error, isNew: isNew)
        sharing.fail(error)
    }
}
