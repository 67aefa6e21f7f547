import Linux

/// Addresses that log a browser in.
enum LoginAddress {
    private static let scheme = "http://"

    static func authority(of link: String) -> Substring { link.dropFirst(scheme.count).prefix { $0 != "/" } }

    /// The same with another name of this device; one behind a proxy stays as it is.
    static func replacingHost(of link: String, by host: String) -> String {
        let authority = authority(of: link)
        guard link.hasPrefix(scheme), let colon = authority.lastIndex(of: ":") else { return link }
        return "\(scheme)\(host)\(authority[colon...])\(link.dropFirst(scheme.count + authority.count))"
    }

    /// The same for browsers elsewhere: `localhost` stands for a gateway that listens on all interfaces.
    static func forOthers(_ link: String) -> String {
        guard authority(of: link).hasPrefix("localhost:"), let network = LocalNetwork.all.first else { return link }
        return replacingHost(of: link, by: network.address)
    }
}
