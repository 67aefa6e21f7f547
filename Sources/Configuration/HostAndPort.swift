/// Where a server listens: `localhost:2947`, `[::1]:2947`, or a host alone.
package struct HostAndPort: Sendable, Hashable {
    package var host: String
    package var port: String

    static let expectation = "HOST:PORT, such as localhost:2947 or [::1]:2947"
    private static let defaultPort = "2947"

    package init(host: String, port: String) {
        self.host = host
        self.port = port
    }

    /// - Returns: nil if the host is not valid, as a number alone, or the port is not a number from 1 to 65535.
    package init?(_ text: String) { self.init(text, defaultPort: Self.defaultPort) }

    /// - Parameter defaultPort: the port if the text is a host alone.
    init?(_ text: String, defaultPort: String) {
        let (host, rest) = Self.split(text)
        let port = rest.isEmpty ? defaultPort : String(rest.dropFirst())
        guard !host.isEmpty, rest.isEmpty || rest.hasPrefix(":"), let number = UInt16(port), rest.isEmpty || number > 0
        else { return nil }
        guard !host.allSatisfy(\.isNumber),
            host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".-_:%".contains($0)) })
        else {
            return nil
        }
        self.init(host: host, port: port)
    }

    private static func split(_ text: String) -> (host: String, rest: Substring) {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return (String(text[text.index(after: text.startIndex)..<end]), text[text.index(after: end)...])
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        return (String(text[..<colon]), text[colon...])
    }
}
