import Linux
internal import QuickConnect

/// Where services are looked for.
protocol ServiceSource: Sendable {
    /// Such as `Avahi`.
    var description: String { get }

    /// Connects to what looks for services, and looks for none yet. May block: only on a thread that is watched. Fails
    /// with `unavailable`.
    func open() throws(CommandError) -> any ServiceStream

    /// What the doctor says of it. As for ``open()``.
    func examine() -> Finding
}

/// Services that are looked for, until the last reference is gone. One thread at a time uses it.
protocol ServiceStream: AnyObject {
    /// Looks for these from now on, and for no others. May block, no single call of a library longer than its reader's
    /// deadline.
    func look(for searches: Set<ServiceSearch>) throws(CommandError)

    /// What there is of each search now.
    var found: [ServiceSearch: Found] { get }

    /// Sleeps until there is something new, somebody uses the waker, or the time comes.
    func wait(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError)
}

/// What a search has found.
struct Found: Equatable {
    var services: [NearbyService.ID: NearbyService] = [:]
    /// Whether all that answer at once have answered.
    var isComplete = false

    /// By their names, for people.
    var list: [NearbyService] {
        services.values.sorted {
            ($0.id.name, $0.id.type, $0.id.domain) < ($1.id.name, $1.id.type, $1.id.domain)
        }
    }
}
