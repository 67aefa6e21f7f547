import Concurrency
internal import QuickConnect

/// A source of services.
protocol ServiceSource: Sendable {
    /// Such as `Avahi`.
    var description: String { get }

    /// Connects to the browsing service, without a search yet. May block: only on a watched thread. Fails with
    /// `unavailable`.
    func open() throws(CommandError) -> any ServiceStream

    /// The doctor's finding. As for ``open()``.
    func examine() -> Finding
}

/// Running searches, until the last reference is gone. Used by one thread at a time.
protocol ServiceStream: AnyObject {
    /// Makes these the active searches. May block, but no single library call longer than its deadline.
    func look(for searches: Set<ServiceSearch>) throws(CommandError)

    /// The services found so far for each search.
    var found: [ServiceSearch: Found] { get }

    /// Sleeps until there is news, the waker is used, or the time comes.
    func wait(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError)
}

/// What a search has found.
struct Found: Equatable {
    var services: [NearbyService.ID: NearbyService] = [:]
    /// Whether the first wave of answers is complete.
    var isComplete = false

    /// Sorted by name, for people.
    var list: [NearbyService] {
        services.values.sorted {
            ($0.id.name, $0.id.type, $0.id.domain) < ($1.id.name, $1.id.type, $1.id.domain)
        }
    }
}
