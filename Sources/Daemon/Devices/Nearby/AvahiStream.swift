internal import CAvahi
import Concurrency
internal import Glibc
internal import QuickConnect

/// The owner of a client of the Avahi daemon, and of its event loop.
final class AvahiConnection {
    let loop: OpaquePointer
    /// Nil when closed. Everything that belonged to it has then been freed.
    private(set) var client: OpaquePointer?
    /// Wakes the loop.
    fileprivate var waker: Waker?

    init() throws(AvahiError) {
        guard let loop = avahi_simple_poll_new() else {
            throw AvahiError("avahi_simple_poll_new", Int32(AVAHI_ERR_NO_MEMORY))
        }
        self.loop = loop
        let flags = AvahiClientFlags(rawValue: 0)
        var code: Int32 = 0
        client = avahi_client_new(avahi_simple_poll_get(loop), flags, { _, _, _ in }, nil, &code)
        guard client != nil else { throw AvahiError("avahi_client_new", code) }
        let own = Unmanaged.passUnretained(self).toOpaque()
        avahi_simple_poll_set_func(loop, { AvahiConnection.sleep($0, $1, $2, $3) }, own)
    }

    deinit {
        close()
        avahi_simple_poll_free(loop)
    }

    /// Frees all queries at once. Freed singly, each would wait for an answer, up to 25 s from a frozen daemon.
    func close() {
        if let client { avahi_client_free(client) }
        client = nil
    }

    /// The error of the last call.
    func error(_ call: String) -> AvahiError {
        AvahiError(call, client.map { avahi_client_errno($0) } ?? Int32(AVAHI_ERR_DISCONNECTED))
    }

    /// Used instead of poll(2), so that a waker can end it.
    private static func sleep(
        _ entries: UnsafeMutablePointer<pollfd>?,
        _ count: UInt32,
        _ milliseconds: Int32,
        _ own: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let own, let waker = Unmanaged<AvahiConnection>.fromOpaque(own).takeUnretainedValue().waker else {
            return 0
        }
        let all = UnsafeMutableBufferPointer(start: entries, count: Int(count))
        var watched = Array(all)
        _ = waker.sleep(watching: &watched, until: milliseconds < 0 ? nil : .now + .milliseconds(milliseconds))
        for (index, entry) in watched.enumerated() { all[index].revents = entry.revents }
        return Int32(watched.count { $0.revents != 0 })
    }
}

/// The queries over a connection to Avahi. The library's callbacks run within ``wait(_:until:)`` and within the calls
/// that start queries.
final class AvahiStream: ServiceStream {
    private let connection: AvahiConnection
    private var queries: [ServiceSearch: AvahiQuery] = [:]

    init() throws(AvahiError) { connection = try AvahiConnection() }

    deinit { connection.close() }

    /// Such as `avahi 0.8`.
    var version: String {
        connection.client.flatMap { avahi_client_get_version_string($0) }.map { String(cString: $0) } ?? "Avahi"
    }

    func look(for searches: Set<ServiceSearch>) throws(CommandError) {
        queries = queries.filter { searches.contains($0.key) }
        for search in searches where queries[search] == nil {
            do throws(AvahiError) { queries[search] = try AvahiQuery(search, connection) } catch {
                throw wentAway(error)
            }
        }
    }

    var found: [ServiceSearch: Found] { queries.mapValues(\.found) }

    func wait(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) {
        connection.waker = waker
        let left = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
        let code = avahi_simple_poll_iterate(connection.loop, Int32(left.rounded(.up)))
        guard code == 0 else { throw wentAway(AvahiError("avahi_simple_poll_iterate", Int32(AVAHI_ERR_OS))) }
        guard let client = connection.client, avahi_client_get_state(client) != AVAHI_CLIENT_FAILURE else {
            throw wentAway(connection.error("avahi_client_get_state"))
        }
        if let error = queries.values.lazy.compactMap(\.failure).first { throw wentAway(error) }
    }

    private func wentAway(_ error: AvahiError) -> CommandError {
        CommandError(.unavailable, "Avahi went away: \(error)")
    }
}
