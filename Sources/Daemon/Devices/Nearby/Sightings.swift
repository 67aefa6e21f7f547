internal import QuickConnect

/// One service on one interface, by IPv4 or IPv6: Avahi reports each separately.
struct Sighting: Hashable {
    var id: NearbyService.ID
    var interface: Int32
    var family: Int32
}

/// The sightings of services, each with its state.
struct Sightings {
    enum Look: Equatable {
        /// Its address is being resolved.
        case resolving
        /// Nobody answers for it.
        case unresolved
        case resolved(NearbyService)
    }

    private var looks: [Sighting: Look] = [:]

    /// The most that are kept, to limit the effect of a flooded network.
    static let most = 400

    var isFull: Bool { looks.count >= Self.most }
    var isResolved: Bool { !looks.values.contains(.resolving) }

    subscript(sighting: Sighting) -> Look? {
        get { looks[sighting] }
        set { looks[sighting] = newValue }
    }

    /// Each service once, with its best address.
    var services: [NearbyService.ID: NearbyService] {
        looks.values.reduce(into: [:]) { services, look in
            guard case .resolved(let service) = look else { return }
            if let other = services[service.id], !Self.isBetter(service, other) { return }
            services[service.id] = service
        }
    }

    /// IPv4 before IPv6 before link-local IPv6; otherwise the first in order, so that the same sightings always give
    /// the same result.
    private static func isBetter(_ one: NearbyService, _ other: NearbyService) -> Bool {
        (rank(one), one.address) < (rank(other), other.address)
    }

    private static func rank(_ service: NearbyService) -> Int {
        service.address.contains("%") ? 2 : service.address.contains(":") ? 1 : 0
    }
}
