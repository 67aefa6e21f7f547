package import JSON
package import QuickConnect
internal import Synchronization

/// The event `nearby`: a service that appeared or changed, as ``NearbyService/json`` with `"here": true`, and with
/// `"here": false` when it is gone. For a new subscriber, all present services are sent; other subscribers of the same
/// search then get them again.
///
/// Option `type`: only services of that type.
package final class NearbyEvent: EventSource {
    private struct State {
        weak var browser: AvahiBrowser?
        var hub: EventHub?
        /// How many subscribers each search has.
        var searches: [ServiceSearch: Int] = [:]
        /// The services that have been published for each search.
        var told: [ServiceSearch: [NearbyService.ID: NearbyService]] = [:]
    }

    package let name = "nearby"
    private let state = Mutex(State())

    func setBrowser(_ browser: AvahiBrowser) { state.withLock { $0.browser = browser } }

    package func check(options: JSONObject) throws(CommandError) {
        for name in options.names where name != "type" {
            throw CommandError(.invalid, "the event 'nearby' takes the option type, not '\(name.shortened)'")
        }
        guard let search = Self.search(options) else {
            throw CommandError(.invalid, "type is a service type such as _http._tcp")
        }
        try state.withLock({ $0.browser })?.check(search)
    }

    package func start(publishingTo hub: EventHub) {
        state.withLock { $0.hub = hub }
        subscribersChanged()
    }

    package func subscribersChanged() {
        let browser = state.withLock { state in
            guard let hub = state.hub else { return state.browser }
            let searches = hub.options(of: name).compactMap(Self.search).reduce(into: [:]) { $0[$1, default: 0] += 1 }
            // New subscribers have not been sent anything yet.
            state.told = state.told.filter { search, _ in
                searches[search, default: 0] > 0 && searches[search, default: 0] <= state.searches[search, default: 0]
            }
            state.searches = searches
            return state.browser
        }
        browser?.wantedChanged()
    }

    package func stop() {
        let browser = state.withLock { state in
            (state.hub, state.searches, state.told) = (nil, [:], [:])
            return state.browser
        }
        browser?.wantedChanged()
    }

    /// The searches of all subscribers.
    var searches: Set<ServiceSearch> { state.withLock { Set($0.searches.keys) } }

    /// Publishes the difference between the present and the previous services.
    func publish(_ found: [ServiceSearch: Found]) {
        let (hub, changes) = state.withLock { state in
            let changes = state.searches.keys.flatMap { search in
                let now = found[search]?.services ?? [:]
                defer { state.told[search] = now }
                return Self.changes(from: state.told[search] ?? [:], to: now).map { (search, $0) }
            }
            return (state.hub, changes)
        }
        for (search, change) in changes {
            hub?.publish(Event(name, .object(change), kind: .message)) { Self.search($0) == search }
        }
    }

    private static func changes(
        from old: [NearbyService.ID: NearbyService],
        to new: [NearbyService.ID: NearbyService]
    ) -> [JSONObject] {
        func told(_ service: NearbyService, here: Bool) -> JSONObject {
            var object = service.json
            object["here"] = .bool(here)
            return object
        }
        let gone = old.values.filter { new[$0.id] == nil }.map { told($0, here: false) }
        return gone + new.values.filter { old[$0.id] != $0 }.map { told($0, here: true) }
    }

    /// Nil if the options are wrong.
    private static func search(_ options: JSONObject) -> ServiceSearch? {
        guard let type = options["type"], type != .null else { return .all }
        return type.stringValue.flatMap { ServiceSearch(type: $0) }
    }
}
