/// The log-in page of the device's own gateway for pages, where the window logs itself in.
package struct OwnGateway: Sendable {
    /// What «web open» answers: an address with a code in its fragment.
    private let link: String

    /// - Parameter link: what «web open» answers.
    package init(link: String) { self.link = link }

    /// Whether an address is a log-in page that has no code yet, of this gateway or of another.
    package static func mayAsk(at address: String) -> Bool {
        guard let parts = PageAddress(address), ["http", "https"].contains(parts.scheme) else { return false }
        return parts.path.hasSuffix("/login.html") && !address.contains("#")
    }

    /// The log-in page's address with the code; nil if it is another gateway's, which must not get one. At a loopback
    /// address the port tells whose it is.
    package func login(at address: String) -> String? {
        let parts = link.split(separator: "#", maxSplits: 1)
        guard Self.mayAsk(at: address), parts.count == 2, let own = PageAddress(String(parts[0])),
            let asked = PageAddress(address), own.path == asked.path
        else { return nil }
        let isLoopback = own.scheme == asked.scheme && own.port == asked.port && own.isLoopback && asked.isLoopback
        guard own.origin == asked.origin || isLoopback else { return nil }
        return "\(address)#\(parts[1])"
    }
}

extension PageAddress {
    fileprivate var port: Substring { authority.dropFirst(host.count) }
    fileprivate var isLoopback: Bool { ["localhost", "127.0.0.1", "[::1]"].contains(host) }
}
