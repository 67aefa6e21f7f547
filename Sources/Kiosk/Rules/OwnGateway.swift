/// The log-in page of the device's own gateway for pages, where the window logs itself in.
package struct OwnGateway: Sendable {
    /// What «web open» answers: an address with a code in its fragment.
    private let link: String

    /// - Parameter link: what «web open» answers.
    package init(link: String) { self.link = link }

    /// Its origin, for people; nil if the link is none.
    package var origin: String? { PageAddress(link)?.origin }

    /// Whether an address is a log-in page that has no code yet, of this gateway or of another.
    package static func isLogIn(_ address: String) -> Bool {
        guard let parts = PageAddress(address) else { return false }
        return ["http", "https"].contains(parts.scheme) && parts.isLogIn && !address.contains("#")
    }

    /// Whether nobody else can answer there: without TLS, anybody in the network may answer to a name.
    package static func isSafe(_ address: String) -> Bool {
        guard let parts = PageAddress(address) else { return false }
        return parts.scheme == "https" || parts.isNumeric || parts.host == "localhost"
    }

    /// An address as others may read it. Who has the code of a log-in is somebody here.
    package static func withoutCode(_ address: String) -> String {
        guard let code = address.firstRange(of: "#code="), PageAddress(address)?.isLogIn == true else { return address }
        return String(address[..<code.lowerBound])
    }

    /// The log-in page's address with the code; nil if it is another gateway's, which must not get one.
    package func login(at address: String) -> String? {
        let parts = link.split(separator: "#", maxSplits: 1)
        guard Self.isLogIn(address), Self.isSafe(address), parts.count == 2, let own = PageAddress(String(parts[0])),
            let asked = PageAddress(address), own.path == asked.path
        else { return nil }
        let isLocalhost =
            own.scheme == asked.scheme && own.port == asked.port && own.isLoopback && asked.isLoopback
            && [own.host, asked.host].contains("localhost")
        guard own.origin == asked.origin || isLocalhost else { return nil }
        return "\(address)#\(parts[1])"
    }
}

extension PageAddress {
    fileprivate var port: Substring { authority.dropFirst(host.count) }
    /// Of digits, so that nobody else can be found under it.
    fileprivate var isNumeric: Bool {
        let isDigits = host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        return host.hasPrefix("[") || isDigits && !host.isEmpty
    }
    fileprivate var isLogIn: Bool { path.hasSuffix("/login.html") }
    fileprivate var isLoopback: Bool { ["localhost", "127.0.0.1", "[::1]"].contains(host) }
}
