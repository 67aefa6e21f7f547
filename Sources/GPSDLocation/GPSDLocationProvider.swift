internal import Concurrency
public import JSON
public import Logging
public import QuickConnect
internal import Synchronization

/// Where the device is, from gpsd or from a recorded track.
///
/// All callers and subscribers share one watch, on one thread, which runs only while there are any: so the receiver can
/// sleep at other times. libgps's calls may block, and are made nowhere else.
public final class GPSDLocationProvider: LocationProvider {
    private struct State {
        var waiters: [Waiter] = []
        var isSubscribed = false
        /// Whether the thread has been told that somebody wants to know.
        var isScheduled = false
        var sight = Sight()
        var latest: Position?
    }

    private let source: any ReportSource
    private let logger: Logger
    private let thread: WatchedThread
    private let shared = Mutex(State())

    /// The event `location`; see ``LocationEvent``.
    public let event = LocationEvent()

    /// Milliseconds of the longest wait: how soon gpsd is left alone when nobody wants it any more.
    private static let longestWait: Int32 = 50
    /// How long gpsd may take to tell of a receiver that it has.
    private static let receiverGrace = Duration.seconds(1)

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
        self.logger = logger
        thread = WatchedThread(name: "qc-gpsd", subject: "gpsd", deadline: answer)
        event.setProvider(self)
    }

    public func position(_ wish: PositionWish, for caller: Caller) async throws(CommandError) -> Position {
        if let known = known(wish) { return known }
        let begin = ContinuousClock.now
        let waiter = Waiter(wish, caller)
        want { $0.waiters.append(waiter) }
        defer { shared.withLock { $0.waiters.removeAll { $0 === waiter } } }
        do throws(CommandError) {
            return try await waiter.promise.value(before: begin + .seconds(wish.timeout))
        } catch {
            guard error.code == .timeout, error.details["reason"] == nil else { throw error }
            let sight = shared.withLock { $0.sight }
            throw sight.error(.timeout, source.description, after: begin.duration(to: .now) / .seconds(1))
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
        let waiters = shared.withLock { state in
            state.isSubscribed = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fail(CommandError(.cancelled, "the daemon is being stopped")) }
        await thread.end()
    }

    func setSubscribed(_ isSubscribed: Bool) {
        if isSubscribed { want { $0.isSubscribed = true } } else { shared.withLock { $0.isSubscribed = false } }
    }

    /// Adds somebody who wants to know, and tells the thread where it sleeps.
    private func want(_ add: (inout State) -> Void) {
        let isFirst = shared.withLock { state in
            add(&state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        do { try thread.run(job) } catch { giveUp(error) }
    }

    private var job: WatchedThread.Job {
        WatchedThread.Job(
            step: "connecting to \(source.description)",
            work: { self.watch() },
            giveUp: { self.giveUp($0) }
        )
    }

    /// On the watching thread: gpsd's host does not answer at all.
    private func giveUp(_ error: CommandError) {
        logger.warning("\(error.message)")
        var error = error
        error.details["reason"] = .string(Sight.Link.unreachable.rawValue)
        let waiters = shared.withLock { state in
            state.isScheduled = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fail(error) }
    }
}

// What follows runs on the thread.
extension GPSDLocationProvider {
    /// Watches as long as anybody wants to know, and connects again and again where that fails.
    private func watch() {
        var pause = BackOff()
        while isWanted, proceed(to: "connecting to \(source.description)") {
            var hasConnected = false
            do throws(Unreachable) {
                let stream = try source.open()
                hasConnected = true
                try listen(to: stream, &pause)
            } catch {
                lost(error, hasConnected: hasConnected, isFirst: !pause.hasFailed)
                pause.wait { isWanted && proceed(to: "waiting for \(source.description)") }
            }
        }
    }

    /// A call that came back after those who waited were given up goes on for those who came since.
    private func proceed(to step: String) -> Bool { thread.proceed(to: step) || thread.revive(job) }

    private var isWanted: Bool {
        shared.withLock { state in
            state.waiters.removeAll { $0.promise.isSettled }
            state.isScheduled = state.isSubscribed || !state.waiters.isEmpty
            return state.isScheduled
        }
    }

    private func listen(to stream: any ReportStream, _ pause: inout BackOff) throws(Unreachable) {
        shared.withLock { $0.sight.connected() }
        let begin = ContinuousClock.now
        while isWanted, proceed(to: "listening to \(source.description)") {
            if let report = try stream.next(milliseconds: Self.longestWait) {
                // Not before it has said something: what only takes connections would be connected to in a loop.
                if pause.hasFailed { logger.notice("\(source.description) is back") }
                pause = BackOff()
                take(report)
            }
            settle(receiverIsDue: begin.duration(to: .now) > Self.receiverGrace)
        }
    }

    private func take(_ report: Report) {
        let now = WallClock.now
        var position: Position?
        if case .fix(let fix) = report { position = fix.position(source: source.name) }
        shared.withLock { state in
            state.sight.note(report, at: now)
            guard let position else { return }
            state.latest = position
            for waiter in state.waiters { waiter.take(position, at: now) }
        }
        if let position { event.publish(position, at: now) }
    }

    /// Answers those who have what they want, or have no hope of it.
    private func settle(receiverIsDue: Bool) {
        let (ready, hopeless, sight) = shared.withLock { state -> ([(Waiter, Position)], [Waiter], Sight) in
            let ready = state.waiters.compactMap { waiter in waiter.answer.map { (waiter, $0) } }
            let isHopeless = receiverIsDue && state.sight.link == .noReceiver
            // Whoever saw gpsd go away is patient: it may find its receiver again.
            return (ready, isHopeless ? state.waiters.filter { !$0.hasLost } : [], state.sight)
        }
        for (waiter, position) in ready { waiter.promise.fulfil(position) }
        for waiter in hopeless { waiter.promise.fail(sight.error(.unavailable, source.description)) }
    }

    /// Those who saw gpsd go away wait for it to come back; the others are told that it is not there.
    private func lost(_ failure: Unreachable, hasConnected: Bool, isFirst: Bool) {
        let (hopeless, sight) = shared.withLock { state in
            state.sight.lost(failure)
            if hasConnected { for waiter in state.waiters { waiter.hasLost = true } }
            return (state.waiters.filter { !$0.hasLost }, state.sight)
        }
        if isFirst { logger.warning("\(source.description): \(failure.reason)") }
        for waiter in hopeless { waiter.promise.fail(sight.error(.unavailable, source.description)) }
    }
}

/// How long to wait until the next attempt.
private struct BackOff {
    private var seconds = 0.0
    var hasFailed: Bool { seconds > 0 }

    private static let shortest = 0.2
    private static let longest = 1.0
    private static let step = 0.05

    /// Waits, each time longer, as long as that is wanted.
    mutating func wait(while isWanted: () -> Bool) {
        seconds = min(Self.longest, max(Self.shortest, seconds * 2))
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end, isWanted() { sleepSeconds(Self.step) }
    }
}
