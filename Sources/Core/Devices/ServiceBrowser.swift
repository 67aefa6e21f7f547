public import JSON

/// A service that a device on the local network offers by DNS-SD (RFC 6763).
public struct NearbyService: Sendable, Hashable {
    /// What identifies a service.
    public struct ID: Sendable, Hashable {
        /// A name for people, such as `Hall Printer`.
        public var name: String
        /// Such as `_ipp._tcp`.
        public var type: String
        /// Usually `local`.
        public var domain: String

        /// What identifies a service: its name, its type such as `_http._tcp`, and its domain.
        public init(name: String, type: String, domain: String) {
            self.name = name
            self.type = type
            self.domain = domain
        }
    }

    /// What identifies it.
    public var id: ID
    /// The name of the device, such as `printer.local`.
    public var host: String
    /// IPv4 or IPv6; a link-local one includes its interface, as in `fe80::1%eth0`.
    public var address: String
    /// The TCP or UDP port.
    public var port: Int
    /// The service's TXT record: strings, and true for a key without a value.
    public var txt: JSONObject

    /// A service that was found on the local network, and its address.
    public init(_ id: ID, host: String, address: String, port: Int, txt: JSONObject = [:]) {
        self.id = id
        self.host = host
        self.address = address
        self.port = port
        self.txt = txt
    }

    /// `{"name", "type", "domain", "host", "address", "port", "txt"}`.
    public var json: JSONObject {
        [
            "name": .string(id.name), "type": .string(id.type), "domain": .string(id.domain), "host": .string(host),
            "address": .string(address), "port": .integer(Int64(port)), "txt": .object(txt),
        ]
    }
}

/// Which services to look for.
public struct ServiceSearch: Sendable, Hashable {
    /// Such as `_http._tcp`; nil: services of any type.
    public let type: String?

    /// Services of any type.
    public static let all = ServiceSearch(checked: nil)

    /// A label of a domain name has at most 63 bytes.
    private static let maxName = 63

    private init(checked type: String?) { self.type = type }

    /// - Returns: nil if it is not a service type: RFC 6763 has `_name._tcp` and `_name._udp`.
    public init?(type: String) {
        let labels = type.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, ["_tcp", "_udp"].contains(labels[1]), labels[0].first == "_" else { return nil }
        let name = labels[0].utf8
        guard (2...Self.maxName).contains(name.count), name.dropFirst().allSatisfy(Self.isOfName) else {
            return nil
        }
        self.init(checked: type)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// A device that knows the services nearby.
public protocol ServiceBrowser: Device {
    /// Looks for services until the first wave of answers is complete, at most for that time. The network is asked only
    /// while somebody waits or subscribes; callers share the results. Called on any thread.
    ///
    /// Fails with `unavailable` (the service that browses is not running), `timeout` (it does not answer), `overloaded`
    /// (too many different types are looked for) or `cancelled` if the waiting task is cancelled. If nothing is found,
    /// the list is empty.
    func services(
        _ search: ServiceSearch,
        within time: Duration,
        for caller: Caller
    ) async throws(CommandError) -> [NearbyService]
}
