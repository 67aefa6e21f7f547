internal import Concurrency
package import JSON
internal import Linux
package import Logging
package import QuickConnect
internal import Synchronization

/// The position of the device, from gpsd or from a recorded track.
///
/// All callers and subscribers share one watch, on one thread, which runs only while there are any, so that the
/// receiver can sleep at other times. The thread sleeps in poll(2) and wakes for a report, for a deadline, or when
/// somebody comes or goes. Only connecting may block, so another thread does it.
package final class GPSDLocationProvider: LocationProvider {
    struct State {
        var waiters: [Waiter] = []
        var isSubscribed = false
        var progress = FixProgress()
        var receivers = ReceiverChoice()
        var latest: Position?
    }

    let source: any ReportSource
    let logger: Logger
    let connector: WatchedThread
    let shared = Mutex(State())
    let thread = WantedThread("qc-gpsd")
    private let answer: Duration

    /// The event `location`; see ``LocationEvent``.
    package let event = LocationEvent()

    /// - Parameters:
    ///   - host: the host of gpsd; connected to only when somebody waits or subscribes.
    ///   - answer: how long connecting may take before callers get an error.
    ///   - logger: gets a line when gpsd is lost, and when it is back.
    package convenience init(host: String, port: String, answer: Duration = .seconds(5), logger: Logger) {
        self.init(GPSDSource(host: host, port: port), answer: answer, logger: logger)
    }

    /// A position that a person or a track says.
    /// - Parameter simulated: see ``position(track:)``.
    package convenience init(simulated: SimulatedInput, logger: Logger) {
        self.init(SimulatedReports(input: simulated), answer: .seconds(5), logger: logger)
        simulated.whenChanged { [weak self] in self?.thread.wake() }
    }

    /// Where the simulated device is.
    /// - Parameter track: a file of gpsd's lines, replayed as if they were current, one per second.
    package static func position(track: String) -> SimulatedInput {
        SimulatedInput(
            "position",
            [
                .init("latitude", in: -90...90, "degrees"), .init("longitude", in: -180...180, "degrees"),
                .init("altitude", in: -12_000...1_000_000, "metres", isOptional: true),
            ],
            track: track,
            mistake: SimulatedReports.mistake
        )
    }

    init(_ source: any ReportSource, answer: Duration, logger: Logger) {
        self.source = source
        self.answer = answer
        self.logger = logger
        connector = WatchedThread(name: "qc-gps-co", subject: "gpsd", deadline: answer)
        event.setProvider(self)
    }

    package func position(_ wish: PositionWish, for caller: Caller) async throws(CommandError) -> Position {
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

    /// The latest position, if it is recent enough for the request.
    private func known(_ wish: PositionWish) -> Position? {
        guard wish.maximumAge > 0, let latest = shared.withLock({ $0.latest }) else { return nil }
        guard !wish.needsAltitude || latest.altitude != nil else { return nil }
        let age = latest.age(at: WallClock.now)
        return age <= wish.maximumAge && age > -PositionWish.freshness || wish.maximumAge == .infinity ? latest : nil
    }

    /// `"locating"`: the callers that wait for a position.
    package func state() -> JSONObject {
        ["locating": .array(shared.withLock { $0.waiters.map { ["for": $0.caller.json] } })]
    }

    /// Does nothing: a caller that waits for a position makes no sound or motion that `stop` would end.
    package func stop(mayEnd: @Sendable (Caller) -> Bool) {}

    /// Ends the watch; callers that wait get `cancelled`.
    package func close() async {
        let waiters = shared.withLock { state in
            defer { (state.isSubscribed, state.waiters) = (false, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fail(CommandError(.cancelled, "the daemon is being stopped")) }
        await thread.ended(within: answer)
        await connector.end()
    }

    func setSubscribed(_ isSubscribed: Bool) {
        if isSubscribed { return want { $0.isSubscribed = true } }
        shared.withLock { $0.isSubscribed = false }
        thread.wake()
    }

    /// Adds a caller or subscriber, and starts or wakes the thread.
    private func want(_ add: (inout State) -> Void) {
        shared.withLock { add(&$0) }
        do throws(Interruption) {
            try thread.start(while: { self.isWanted }) { self.watch($0) }
        } catch {
            fail(CommandError(.unavailable, "\(source.description) cannot be watched: \(error)"))
        }
    }

    /// Removes a caller that has an answer or no longer waits.
    private func leave(_ waiter: Waiter) {
        let isGone = shared.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
        if isGone { thread.wake() }
    }

    /// Called if gpsd does not answer at all.
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
