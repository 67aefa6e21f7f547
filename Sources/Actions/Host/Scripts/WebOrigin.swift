/// The origin of a page: scheme, host and port of its address. Addresses such as `about:`, `data:` and `blob:` have
/// none.
package struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    /// In lower case.
    package let scheme: String
    /// In lower case; an IPv6 address in brackets; empty for files.
    package let host: String
    /// Nil: the default port of the scheme.
    package let port: UInt16?

    private static let usualPorts: [String: UInt16] = ["http": 80, "https": 443]

    /// - Parameter address: as browsers report it: percent-encoded, a host beyond ASCII in Punycode. Nil for an address
    ///   of another kind, and if it is not an address.
    package init?(_ address: String) {
        let bytes = address.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), address[colon...].hasPrefix("://") else {
            return nil
        }
        let scheme = address[..<colon]
        guard scheme.utf8.first.map(Self.isLetter) == true, scheme.utf8.allSatisfy(Self.isOfScheme) else { return nil }
        let rest = address[bytes.index(colon, offsetBy: 3)...]
        let authority = rest.prefix { !"/?#".contains($0) }
        // Browsers end a host at a backslash, other programs do not, so it never occurs in a browser's address.
        guard !authority.utf8.contains(UInt8(ascii: "\\")) else { return nil }
        let place = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map {
            authority[authority.utf8.index(after: $0)...]
        }
        self.init(scheme: scheme.lowercased(), place: place ?? authority)
    }

    private init?(scheme: String, place: Substring) {
        var host = place
        var port: UInt16?
        if let colon = place.utf8.lastIndex(of: UInt8(ascii: ":")), !place[colon...].contains("]") {
            let digits = place[place.utf8.index(after: colon)...]
            host = place[..<colon]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            if !digits.isEmpty {
                guard let number = UInt16(digits) else { return nil }
                port = number
            }
        }
        guard Self.isHost(host), host.isEmpty == (scheme == "file") else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port == Self.usualPorts[scheme] ? nil : port
    }

    /// As a browser writes it, without a slash at its end: `https://example.org`.
    package var description: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")" }

    private static func isHost(_ host: Substring) -> Bool {
        guard host.utf8.count <= 255 else { return false }
        if host.hasPrefix("[") {
            return host.hasSuffix("]") && host.utf8.count > 3
                && host.dropFirst().dropLast().utf8.allSatisfy {
                    isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                }
        }
        return host.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "-._".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private static func isOfScheme(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
    }
}
