internal import Glibc

/// An IPv4 network that this device is in.
package struct LocalNetwork: Sendable {
    /// As `eth0`.
    package let interface: String
    /// This device's address in it, as `192.168.1.20`.
    package let address: String
    /// As `192.168.1.0/24`.
    package let subnet: String

    /// All of them but loopback, the one of the default route first.
    package static var all: [LocalNetwork] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var networks: [LocalNetwork] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            if let network = LocalNetwork(entry) { networks.append(network) }
        }
        let first = defaultInterface
        return networks.filter { $0.interface == first } + networks.filter { $0.interface != first }
    }

    private init?(_ entry: ifaddrs) {
        let flags = Int32(bitPattern: entry.ifa_flags)
        guard let address = Self.ipv4(entry.ifa_addr), let mask = Self.ipv4(entry.ifa_netmask),
            flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0
        else { return nil }
        interface = String(cString: entry.ifa_name)
        self.address = Self.text(address)
        subnet = "\(Self.text(address & mask))/\(mask.nonzeroBitCount)"
    }

    private static func ipv4(_ address: UnsafeMutablePointer<sockaddr>?) -> UInt32? {
        guard let address, address.pointee.sa_family == sa_family_t(AF_INET) else { return nil }
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
        }
    }

    private static func text(_ address: UInt32) -> String {
        let bytes = withUnsafeBytes(of: address.bigEndian) { Array($0) }
        return bytes.map(String.init).joined(separator: ".")
    }

    /// proc(5): the destination 0 is the default route.
    private static var defaultInterface: String? {
        guard case .success(let text) = FileText.exact("/proc/net/route", maximumBytes: 1 << 16) else { return nil }
        for line in text.split(separator: "\n") {
            let columns = line.split(separator: "\t")
            if columns.count > 1, columns[1] == "00000000" { return String(columns[0]) }
        }
        return nil
    }
}
