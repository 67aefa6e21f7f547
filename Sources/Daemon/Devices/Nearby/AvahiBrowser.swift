internal import Concurrency
public import JSON
internal import Linux
public import Logging
public import QuickConnect
internal import Synchronization

/// The services on the local network, from the Avahi daemon of this device, or two simulated ones.
///
/// All callers and subscribers share one connection to Avahi, which exists only while there are any. It runs on a
/// watched thread, since Avahi may hang; the thread is parked at other times.
public final class AvahiBrowser: ServiceBrowser {
    private struct Waiter {
        /// Fulfilled as soon as the search is complete.
        let promise: Promise<[NearbyService]>
        let search: ServiceSearch
        let caller: Caller
    }

    private struct State {
        var waiters: [Waiter] = []
        /// The services found for each active search.
        var found: [ServiceSearch: Found] = [:]
        /// Whether the thread is working, or about to.
        var isRunning = false
        var isClosed = false
        /// Whether the loss of Avahi has been logged.
        var isLost = false
    }

    private let source: any ServiceSource
    private let logger: Logger
    private let thread: WatchedThread
    private let examination: WatchedExamination
    private let waker: Waker?
    private let shared = Mutex(State())

    /// The event `nearby`; see ``NearbyEvent``.
    public let event = NearbyEvent()

    /// The longest sleep: the thread must regularly report that it is alive.
    private static let longestSleep = Duration.seconds(2)
    /// Different searches at once. Each is an object in the Avahi daemon, which has room for a few hundred.
    private static let mostSearches = 32

    /// - Parameters:
    ///   - isSimulated: whether to use two invented services instead of the network.
    ///   - logger: gets a line when Avahi is lost, and when it is back.
    public convenience init(isSimulated: Bool, logger: Logger) {
        self.init(isSimulated ? SimulatedServices() : AvahiSource(), logger: logger)
    }

    /// - Parameter deadline: how long one call of Avahi's library may take.
    init(_ source: any ServiceSource, deadline: Duration = .seconds(5), logger: Logger) {
        self.source = source
        self.logger = logger
        thread = WatchedThread(name: "qc-nearby", subject: source.description, deadline: deadline)
        examination = WatchedExamination("nearby", of: source.description, thread: "qc-mdns-d", deadline: deadline) {
            _ in source.examine()
        }
        waker = try? Waker()
        event.setBrowser(self)
    }

    public func services(
        _ search: ServiceSearch,
        within time: Duration,
        for caller: Caller
    ) async throws(CommandError) -> [NearbyService] {
        try check(search)
        let waiter = Waiter(promise: Promise(), search: search, caller: caller)
        shared.withLock { $0.waiters.append(waiter) }
        wantedChanged()
        defer { leave(waiter) }
        do throws(CommandError) { return try await waiter.promise.value(before: .now + time) } catch {
            guard error.code == .timeout else { throw error }
            if let found = shared.withLock({ $0.found[search] }) { return found.list }
            throw CommandError(.timeout, "\(source.description) has not answered within \(time.words)")
        }
    }

    /// Throws `overloaded` if one more search would be too many.
    func check(_ search: ServiceSearch) throws(CommandError) {
        let wanted = wanted
        guard !wanted.contains(search), wanted.count >= Self.mostSearches else { return }
        throw CommandError(.overloaded, "at most \(Self.mostSearches) types of services are looked for at once")
    }

    /// `"browsing"`: the callers that wait, and for services of which type. Subscribers are listed under `"watched"`.
    public func state() -> JSONObject {
        let waiters = shared.withLock { $0.waiters }
        let list = waiters.map { waiter -> JSONValue in
            ["type": waiter.search.type.map { .string($0) } ?? .null, "for": waiter.caller.json]
        }
        return ["browsing": .array(list)]
    }

    /// Does nothing: a caller that looks for services causes no sound or motion that `stop` would end.
    public func stop(mayEnd: @Sendable (Caller) -> Bool) {}

    /// Ends the search; callers that wait get `cancelled`.
    public func close() async {
        shared.withLock { $0.isClosed = true }
        fail(CommandError(.cancelled, "the daemon is being stopped"))
        waker?.wake()
        await thread.end()
        await examination.close()
    }

    func examine() async -> Finding { await examination.finding() }

    // MARK: Who wants it

    /// Starts the thread, or makes it check what is wanted now.
    func wantedChanged() {
        let begins = shared.withLock { state in
            guard !state.isRunning, !wanted(&state).isEmpty else { return false }
            state.isRunning = true
            return true
        }
        guard begins else {
            waker?.wake()
            return
        }
        let job = WatchedThread.Job(
            step: "connecting to \(source.description)",
            work: { self.run() },
            giveUp: { (error: CommandError) in self.giveUp(error) }
        )
        do throws(CommandError) { try thread.run(job) } catch { giveUp(error) }
    }

    private func wanted(_ state: inout State) -> Set<ServiceSearch> {
        state.waiters.removeAll { $0.promise.isSettled }
        return state.isClosed ? [] : event.searches.union(state.waiters.map(\.search))
    }

    private var wanted: Set<ServiceSearch> { shared.withLock { wanted(&$0) } }

    private func leave(_ waiter: Waiter) {
        shared.withLock { $0.waiters.removeAll { $0.promise === waiter.promise } }
        waker?.wake()
    }

    private func fail(_ error: CommandError) {
        let waiters = shared.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fail(error) }
    }

    /// Avahi does not answer. Tries again later, as long as somebody subscribes.
    private func giveUp(_ error: CommandError) {
        shared.withLock { $0.isRunning = false }
        lost(error)
        guard !wanted.isEmpty else { return }
        AlarmThread.shared.ring(after: Self.longestSleep) { [weak self] in self?.wantedChanged() }
    }

    // MARK: On the thread

    private func run() {
        guard let waker else { return giveUp(CommandError(.unavailable, "the process has no file descriptors left")) }
        repeat {
            while !wanted.isEmpty, proceed(to: "connecting to") {
                do throws(CommandError) { try browse(waker) } catch {
                    lost(error)
                    if !wanted.isEmpty { _ = waker.sleep(until: .now + Self.longestSleep) }
                }
            }
        } while !hasEnded()
    }

    /// Looks for services until nobody wants any.
    private func browse(_ waker: Waker) throws(CommandError) {
        let stream = try source.open()
        connected()
        var searches = wanted
        while !searches.isEmpty, proceed(to: "asking") {
            try stream.look(for: searches)
            take(stream.found)
            try stream.wait(waker, until: .now + Self.longestSleep)
            searches = wanted
        }
        shared.withLock { $0.found = [:] }
    }

    /// Answers callers whose search is complete, and notifies subscribers of changes.
    private func take(_ found: [ServiceSearch: Found]) {
        let ready = shared.withLock { state in
            state.found = found
            let ready = state.waiters.filter { found[$0.search]?.isComplete ?? false }
            state.waiters.removeAll { found[$0.search]?.isComplete ?? false }
            return ready
        }
        for waiter in ready { waiter.promise.fulfil(found[waiter.search]?.list ?? []) }
        event.publish(found)
    }

    private func connected() {
        let isBack = shared.withLock { state in
            defer { state.isLost = false }
            return state.isLost
        }
        if isBack { logger.notice("\(source.description) is back") }
    }

    private func lost(_ error: CommandError) {
        let isNew = shared.withLock { state in
            defer { (state.isLost, state.found) = (true, [:]) }
            return !state.isLost
        }
        if isNew { logger.warning("\(source.description): \(error.message)") }
        fail(error)
        // For a subscriber, services that cannot be seen are gone.
        event.publish([:])
    }

    /// Reports that the thread is alive.
    /// - Returns: false if it was given up meanwhile.
    private func proceed(to what: String) -> Bool { thread.proceed(to: "\(what) \(source.description)") }

    private func hasEnded() -> Bool {
        guard proceed(to: "leaving") else { return true }
        return shared.withLock { state in
            guard wanted(&state).isEmpty else { return false }
            state.isRunning = false
            return true
        }
    }
}

/// Checks whether services nearby can be found.
public struct NearbyDoctor: Examined {
    private let browser: AvahiBrowser

    public init(_ browser: AvahiBrowser) { self.browser = browser }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] { [await browser.examine()] }
}
