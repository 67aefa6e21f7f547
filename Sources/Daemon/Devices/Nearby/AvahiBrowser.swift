package import Concurrency
package import JSON
package import Logging
package import QuickConnect
internal import Synchronization

/// The services on the local network, from the Avahi daemon of this device, or two simulated ones.
///
/// All callers and subscribers share one connection to Avahi, which exists only while there are any
/// (``SharedSource``).
package final class AvahiBrowser: ServiceBrowser, SharedSource, Examined {
    private let source: any ServiceSource
    private let logger: Logger
    package let examination: WatchedExamination
    package let sharing: Sharing<ServiceSearch, [NearbyService]>
    /// The services found for each active search.
    private let found = Mutex<[ServiceSearch: Found]>([:])

    /// The event `nearby`; see ``NearbyEvent``.
    package let event = NearbyEvent()

    /// Different searches at once. Each is an object in the Avahi daemon, which has room for a few hundred.
    private static let maxSearches = 32

    /// - Parameters:
    ///   - isSimulated: whether to use two invented services instead of the network.
    ///   - logger: gets a line when Avahi is lost, and when it is back.
    package convenience init(isSimulated: Bool, logger: Logger) {
        self.init(isSimulated ? SimulatedServices() : AvahiSource(), logger: logger)
    }

    /// - Parameter deadline: how long one call of Avahi's library may take.
    init(_ source: any ServiceSource, deadline: Duration = .seconds(5), logger: Logger) {
        self.source = source
        self.logger = logger
        sharing = Sharing(
            source.description,
            opening: "connecting to",
            closing: "leaving",
            thread: "qc-nearby",
            deadline: deadline
        )
        examination = WatchedExamination("nearby", of: source.description, thread: "qc-mdns-d", deadline: deadline) {
            _ in source.examine()
        }
        event.setBrowser(self)
    }

    package func services(
        _ search: ServiceSearch,
        within time: Duration,
        for caller: Caller
    ) async throws(CommandError) -> [NearbyService] {
        try check(search)
        do throws(CommandError) { return try await answer(search, for: caller, within: time) } catch {
            guard error.code == .timeout else { throw error }
            if let found = found.withLock({ $0[search] }) { return found.list }
            throw CommandError(.timeout, "\(source.description) has not answered within \(time.words)")
        }
    }

    /// Throws `overloaded` if one more search would be too many.
    func check(_ search: ServiceSearch) throws(CommandError) {
        let wanted = wanted
        guard !wanted.contains(search), wanted.count >= Self.maxSearches else { return }
        throw CommandError(.overloaded, "at most \(Self.maxSearches) types of services are looked for at once")
    }

    /// `"browsing"`: the callers that wait, and for services of which type. Subscribers are listed under `"watched"`.
    package func state() -> JSONObject {
        let list = sharing.wishes.map { search, caller -> JSONValue in
            ["type": search.type.map { .string($0) } ?? .null, "for": caller.json]
        }
        return ["browsing": .array(list)]
    }

    package func examine(thoroughly isThorough: Bool) async -> [Finding] { [await examine()] }

    func examine() async -> Finding { await examination.finding() }

    private var wanted: Set<ServiceSearch> { event.searches.union(sharing.wishes.map(\.wish)) }

    package var hasSubscribers: Bool { !event.searches.isEmpty }

    /// Looks for services until nobody wants any.
    package func read(_ waker: Waker) throws(CommandError) {
        let stream = try source.open()
        if sharing.found() { logger.notice("\(source.description) is back") }
        while isWanted, proceed(to: "asking") {
            try stream.look(for: wanted)
            take(stream.found)
            try stream.wait(waker, until: .now + Sharing<ServiceSearch, [NearbyService]>.maxSleep)
        }
        found.withLock { $0 = [:] }
    }

    /// Answers callers whose search is complete, and notifies subscribers of changes.
    private func take(_ all: [ServiceSearch: Found]) {
        found.withLock { $0 = all }
        sharing.settle { search in all[search].flatMap { $0.isComplete ? $0.list : nil } }
        event.publish(all)
    }

    package func lost(_ error: CommandError, isNew: Bool) {
        found.withLock { $0 = [:] }
        if isNew { logger.warning("\(source.description): \(error.message)") }
        // For a subscriber, services that cannot be seen are gone.
        event.publish([:])
    }
}
