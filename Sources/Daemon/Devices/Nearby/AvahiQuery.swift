internal import CAvahi
internal import Glibc
internal import JSON
internal import QuickConnect

/// The Avahi objects of one search: a browser for the services of one type, or for all types and then the services of
/// each; and a resolver for the address of each service found.
final class AvahiQuery {
    private let connection: AvahiConnection
    private var types: AvahiTypes?
    private var browses: [String: AvahiBrowse] = [:]
    private var resolvers: [Sighting: AvahiResolver] = [:]
    fileprivate var sightings = Sightings()
    /// The error that ended it.
    fileprivate(set) var failure: AvahiError?

    /// The most types examined in a search for any type.
    private static let maxTypes = 100

    init(_ search: ServiceSearch, _ connection: AvahiConnection) throws(AvahiError) {
        self.connection = connection
        if let type = search.type { try browse(type) } else { types = try AvahiTypes(self, connection) }
    }

    var found: Found {
        let isComplete = (types?.isComplete ?? true) && browses.values.allSatisfy(\.isComplete)
        return Found(services: sightings.services, isComplete: isComplete && sightings.isResolved)
    }

    private func browse(_ type: String) throws(AvahiError) {
        guard browses[type] == nil, browses.count < Self.maxTypes else { return }
        browses[type] = try AvahiBrowse(type, self, connection)
    }

    // MARK: Called by the library

    fileprivate func sawType(_ type: String) {
        do throws(AvahiError) { try browse(type) } catch { failure = error }
    }

    fileprivate func saw(_ sighting: Sighting) {
        guard sightings[sighting] == nil, !sightings.isFull else { return }
        resolvers[sighting] = AvahiResolver(sighting, self, connection)
        // Creating the resolver may already have failed.
        sightings[sighting] = resolvers[sighting] == nil ? .unresolved : .resolving
    }

    fileprivate func lost(_ sighting: Sighting) {
        resolvers[sighting] = nil
        sightings[sighting] = nil
    }

    fileprivate func failed(_ call: String) { failure = connection.error(call) }
}

private let anyInterface = AvahiIfIndex(AVAHI_IF_UNSPEC)
private let anyFamily = AvahiProtocol(AVAHI_PROTO_UNSPEC)
private let noFlags = AvahiLookupFlags(rawValue: 0)

/// The owner of a browser of types.
private final class AvahiTypes {
    private unowned let query: AvahiQuery
    private let connection: AvahiConnection
    private var handle: OpaquePointer?
    private(set) var isComplete = false

    init(_ query: AvahiQuery, _ connection: AvahiConnection) throws(AvahiError) {
        (self.query, self.connection) = (query, connection)
        let own = Unmanaged.passUnretained(self).toOpaque()
        handle = avahi_service_type_browser_new(
            connection.client,
            anyInterface,
            anyFamily,
            nil,
            noFlags,
            { _, _, _, event, type, _, _, own in
                guard let own else { return }
                let types = Unmanaged<AvahiTypes>.fromOpaque(own).takeUnretainedValue()
                types.take(event, type.map { String(cString: $0) } ?? "")
            },
            own
        )
        guard handle != nil else {
            throw connection.error("avahi_service_type_browser_new")
        }
    }

    deinit { if let handle, connection.client != nil { avahi_service_type_browser_free(handle) } }

    private func take(_ event: AvahiBrowserEvent, _ type: String) {
        switch event {
        case AVAHI_BROWSER_NEW: query.sawType(type)
        case AVAHI_BROWSER_ALL_FOR_NOW: isComplete = true
        case AVAHI_BROWSER_FAILURE: query.failed("avahi_service_type_browser")
        default: break
        }
    }
}

/// The owner of a browser of the services of a type.
private final class AvahiBrowse {
    private unowned let query: AvahiQuery
    private let connection: AvahiConnection
    private var handle: OpaquePointer?
    private(set) var isComplete = false

    init(_ type: String, _ query: AvahiQuery, _ connection: AvahiConnection) throws(AvahiError) {
        (self.query, self.connection) = (query, connection)
        let own = Unmanaged.passUnretained(self).toOpaque()
        handle = avahi_service_browser_new(
            connection.client,
            anyInterface,
            anyFamily,
            type,
            nil,
            noFlags,
            { _, interface, family, event, name, type, domain, _, own in
                guard let own else { return }
                let browse = Unmanaged<AvahiBrowse>.fromOpaque(own).takeUnretainedValue()
                guard let name, let type, let domain else { return browse.take(event) }
                let id = NearbyService.ID(
                    name: String(cString: name),
                    type: String(cString: type),
                    domain: String(cString: domain)
                )
                browse.take(event, Sighting(id: id, interface: interface, family: family))
            },
            own
        )
        guard handle != nil else { throw connection.error("avahi_service_browser_new") }
    }

    deinit { if let handle, connection.client != nil { avahi_service_browser_free(handle) } }

    private func take(_ event: AvahiBrowserEvent, _ sighting: Sighting) {
        switch event {
        case AVAHI_BROWSER_NEW: query.saw(sighting)
        case AVAHI_BROWSER_REMOVE: query.lost(sighting)
        default: take(event)
        }
    }

    private func take(_ event: AvahiBrowserEvent) {
        switch event {
        case AVAHI_BROWSER_ALL_FOR_NOW: isComplete = true
        case AVAHI_BROWSER_FAILURE: query.failed("avahi_service_browser")
        default: break
        }
    }
}

/// The owner of a resolver. It is kept because it reports when a service changes its data.
private final class AvahiResolver {
    private unowned let query: AvahiQuery
    private let connection: AvahiConnection
    private let sighting: Sighting
    private var handle: OpaquePointer?

    /// - Returns: nil if the Avahi daemon has no room for more.
    init?(_ sighting: Sighting, _ query: AvahiQuery, _ connection: AvahiConnection) {
        (self.query, self.connection, self.sighting) = (query, connection, sighting)
        let (id, own) = (sighting.id, Unmanaged.passUnretained(self).toOpaque())
        // The address must be of the same family; with any family, it alternates between the two.
        handle = avahi_service_resolver_new(
            connection.client,
            sighting.interface,
            sighting.family,
            id.name,
            id.type,
            id.domain,
            sighting.family,
            noFlags,
            { _, _, _, event, _, _, _, host, address, port, txt, _, own in
                guard let own else { return }
                let resolver = Unmanaged<AvahiResolver>.fromOpaque(own).takeUnretainedValue()
                guard event == AVAHI_RESOLVER_FOUND, let host, let address else { return resolver.take(nil) }
                let service = NearbyService(
                    resolver.sighting.id,
                    host: String(cString: host),
                    address: AvahiText.address(address, on: resolver.sighting.interface),
                    port: Int(port),
                    txt: AvahiText.record(txt)
                )
                resolver.take(service)
            },
            own
        )
        if handle == nil { return nil }
    }

    deinit { if let handle, connection.client != nil { avahi_service_resolver_free(handle) } }

    private func take(_ service: NearbyService?) {
        query.sightings[sighting] = service.map { .resolved($0) } ?? .unresolved
    }
}

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

/// Avahi's values as text.
enum AvahiText {
    /// In a form that getaddrinfo(3) accepts.
    static func address(_ address: UnsafePointer<AvahiAddress>, on interface: Int32) -> String {
        let text = String(cString: Int(AVAHI_ADDRESS_STR_MAX)) { avahi_address_snprint($0, $1, address) }
        return text.hasPrefix("fe80:") ? text + zone(interface) : text
    }

    /// `%eth0`: a link-local address is meaningless without its interface.
    private static func zone(_ interface: Int32) -> String {
        let name = String(cString: Int(IF_NAMESIZE)) { name, _ in if_indextoname(UInt32(interface), name) }
        return name.isEmpty ? "" : "%\(name)"
    }

    /// A TXT record (RFC 6763, 6.3 and 6.4): `key=value`, or a key alone. If a key comes twice, in whatever case, the first
    /// one counts.
    static func record(_ list: UnsafeMutablePointer<AvahiStringList>?) -> JSONObject {
        var record: JSONObject = [:]
        var keys: Set<String> = []
        var next = list
        while let entry = next {
            let (text, size) = (avahi_string_list_get_text(entry), avahi_string_list_get_size(entry))
            add(Array(UnsafeBufferPointer(start: text, count: size)), to: &record, &keys)
            next = avahi_string_list_get_next(entry)
        }
        return record
    }

    /// - Parameter keys: those of the record, in lower case.
    static func add(_ entry: [UInt8], to record: inout JSONObject, _ keys: inout Set<String>) {
        let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let key = String(decoding: parts[0], as: UTF8.self)
        guard !key.isEmpty, keys.insert(key.lowercased()).inserted else { return }
        record[key] = parts.count == 1 ? .bool(true) : .string(String(decoding: parts[1], as: UTF8.self))
    }
}

extension String {
    /// What a C function writes into a buffer of that many bytes; empty if it returns NULL.
    fileprivate init(cString size: Int, _ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?) {
        self = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            buffer.baseAddress.flatMap { write($0, size) }.map { String(cString: $0) } ?? ""
        }
    }
}
