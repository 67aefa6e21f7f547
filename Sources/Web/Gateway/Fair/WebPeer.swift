internal import Glibc

/// Who must not harm the others: a user once logged in, an address of the network before that.
enum WebPeer: Hashable, Sendable {
    case address(String)
    /// By the name without the gateway's prefix, whether a page or a program.
    case user(String)

    /// For people and logs.
    var words: String {
        switch self {
        case .address(let address): address
        case .user(let name): "web:\(name)"
        }
    }
}

extension WebPeer {
    /// What stands before an address that a reverse proxy names.
    static let proxyPrefix = "proxy "

    /// Who is behind an address before log-in. Whoever has one address of this device, or of an IPv6 network of 64 bits,
    /// may have all of them, so that they are one peer.
    /// - Parameter address: as text, perhaps behind ``proxyPrefix``. Other text stands for itself.
    static func stranger(at address: String) -> WebPeer {
        guard address.hasPrefix(proxyPrefix) else { return .address(network(of: address)) }
        return .address(proxyPrefix + network(of: String(address.dropFirst(proxyPrefix.count))))
    }

    private static func network(of address: String) -> String {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, address, &four) == 1 {
            return withUnsafeBytes(of: four) { $0.first == 127 } ? loopback : address
        }
        guard inet_pton(AF_INET6, address, &six) == 1 else { return address }
        return withUnsafeBytes(of: six) { network(of: Array($0)) } ?? address
    }

    private static let loopback = "127.0.0.1"

    /// - Parameter bytes: an IPv6 address.
    private static func network(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: mapped) { return network(of: bytes.suffix(4).map { "\($0)" }.joined(separator: ".")) }
        if bytes == [UInt8](repeating: 0, count: 15) + [1] { return loopback }
        let first = Array(bytes.prefix(8)) + [UInt8](repeating: 0, count: 8)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, first, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/64"
    }

    /// The beginning of an IPv4 address in the form of IPv6.
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
}
