internal import Concurrency
public import JSON
internal import Linux
public import Logging
public import QuickConnect
internal import Synchronization

/// Where the device is, from gpsd or from a recorded track.
///
/// All callers and subscribers share one watch, on one thread, which runs only while there are any: so the receiver can
/// sleep at other times. The thread sleeps in poll(2) and wakes for a report, for a deadline, or where somebody comes or
/// goes. Only connecting may block, and is done by another one.
public final class GPSDLocationProvider: LocationProvider {
    struct State {
        var waiters: [Waiter] = []
        var isSubscribed = false
        /// Of the thread, as long as there is one.
        var waker: Waker?
        /// Whoever waits for the thread's end.
        var ending: [Promise<Void>] = []
        var progress = FixProgress()
        var receivers = ReceiverChoice()
        var latest: Position?
    }

    let source: any ReportSource
    let logger: Logger
    let connector: WatchedThread
    let shared = Mutex(State())
    private let answer: Duration

    /// The event `location`; see ``LocationEvent``.
    public let event = LocationEvent()

    /// - Parameters:
    ///   - host: of gpsd; not connected to before somebody wants to know.
    ///   - answer: how long a connection may take before callers are told that gpsd does not answer.
    ///   - logger: gets a line when gpsd is lost, and when it is back.
    public convenience init(host: String, port: String, answer: Duration = .seconds(5), logger: Logger) {
        self.init(GPSDSource(host: host, port: port), answer: answer, logger: logger)
    }

    /// - Parameter track: a file of gpsd's lines, which are told as if they were of now, one a second.
    public convenience init(track: String, logger: Logger) {
        self.init(TrackSource(path: track), answer: .seconds(5), logger: logger)
    }

    init(_ source: any ReportSource, answer: Duration, logger: Logger) {
        self.source = source
        self.answer = answer
        self.logger = logger
        connector = WatchedThread(name: "qc-gps-co", subject: "gpsd", deadline: answer)
        event.setProvider(self)
    }

    public func position(_ wish: PositionWish, for caller: Caller) async throws(CommandError) -> Position {
        if let known = known(wish) { return known }
        let begin = ContinuousClock.now
        let waiter = Waiter(wish, caller)
        want { $0.waiters.append(waiter) }
        defer { leave(waiter) }
        do throws(CommandError) {
            return try await waiter.promise.value(before: begin + .seconds(wish.timeout))
        } catch {
            guard error.code == .timeout, error.details["reason"] == nil else { throw error }
            let progress = shared.withLock { $0.progress }
            throw progress.error(.timeout, source.description, after: begin.duration(to: .now) / .seconds(1))
        }
    }

    /// The latest position, where it is young enough for one who does not need a new one.
    private func known(_ wish: PositionWish) -> Position? {
        guard wish.maximumAge > 0, let latest = shared.withLock({ $0.latest }) else { return nil }
        guard !wish.needsAltitude || latest.altitude != nil else { return nil }
        let age = latest.age(at: WallClock.now)
        return age <= wish.maximumAge && age > -PositionWish.freshness || wish.maximumAge == .infinity ? latest : nil
    }

    /// `"locating"`: who waits for a position.
    public func state() -> JSONObject {
        ["locating": .array(shared.withLock { $0.waiters.map { ["for": $0.caller.json] } })]
    }

    /// Ends nothing: whoever waits for a position hears nothing and disturbs nobody.
    public func stop(mayEnd: @Sendable (Caller) -> Bool) {}

    /// Ends the watch, and gives those who wait `cancelled`.
    public func close() async {
        let ended = Promise<Void>()
        let last = shared.withLock { state in
            if state.waker != nil { state.ending.append(ended) } else { ended.fulfil(()) }
            defer { (state.isSubscribed, state.waiters) = (false, []) }
            return state
        }
        for waiter in last.waiters { waiter.promise.fail(CommandError(.cancelled, "the daemon is being stopped")) }
        last.waker?.wake()
        _ = try? await ended.value(before: .now + answer)
        await connector.end()
    }

    func setSubscribed(_ isSubscribed: Bool) {
        if isSubscribed { return want { $0.isSubscribed = true } }
        let waker = shared.withLock { state in
            state.isSubscribed = false
            return state.waker
        }
        waker?.wake()
    }

    /// Adds somebody who wants to know, and wakes the thread, or starts it.
    private func want(_ add: (inout State) -> Void) {
        do throws(Unreachable) {
            let (waker, isNew) = try shared.withLock { state throws(Unreachable) -> (Waker, Bool) in
                add(&state)
                if let waker = state.waker { return (waker, false) }
                let waker = try Waker.forWatch()
                state.waker = waker
                return (waker, true)
            }
            guard isNew else { return waker.wake() }
            let code = PThread.start("qc-gpsd") { self.run(waker) }
            if code != 0 { throw Unreachable(reason: "no thread could be started (\(code))") }
        } catch {
            shared.withLock { $0.waker = nil }
            fail(CommandError(.unavailable, "\(source.description) cannot be watched: \(error.reason)"))
        }
    }

    /// Whoever has an answer, or waits no longer, is wanted nowhere.
    private func leave(_ waiter: Waiter) {
        let waker = shared.withLock { state -> Waker? in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return nil }
            state.waiters.remove(at: index)
            return state.waker
        }
        waker?.wake()
    }

    /// gpsd does not answer at all.
    func fail(_ error: CommandError) {
        var error = error
        error.details["reason"] = .string(FixProgress.Stage.unreachable.rawValue)
        let waiters = shared.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fail(error) }
    }
}
