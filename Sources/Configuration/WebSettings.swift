import Linux

/// The section `web`: how pages are served. docs/web.md describes each setting.
package struct WebSettings: Sendable, Equatable {
    /// Where to listen: ADDRESS:PORT, or a path.
    package var listen = Self.defaultListener
    /// The address given to people; nil: the one where it listens.
    package var address: String?
    /// Further names of this host in browsers, apart from localhost and its addresses. In lower case.
    package var names: Set<String> = []
    /// The owner's folder of pages; nil: `pages` beside the settings.
    package var pages: String?
    /// Whether pages may contain inline scripts and styles.
    package var inlineScripts = false
    /// Whether pages reload as their files change, and show what the device refuses them.
    package var watches = false
    /// The address of a map's tiles.
    package var tiles: String?
    /// How long a log-in lasts, in seconds.
    package var sessionSeconds = 30 * 86_400.0
    /// Connections of browsers at the same time.
    package var connections = 2048

    package static let defaultListener = "127.0.0.1:8467"

    /// Where a server listens.
    package enum Listener: Sendable, Equatable {
        case tcp(host: String, port: Int)
        case unix(path: String)

        package static let expectation =
            "ADDRESS:PORT, such as 127.0.0.1:8467 or [::]:8467, or an absolute path of at most \(UnixSocketAddress.maximumBytes) bytes"

        /// Nil if it is neither.
        package init?(_ text: String) {
            if text.hasPrefix("/") {
                guard (try? UnixSocketAddress(text)) != nil else { return nil }
                self = .unix(path: text)
                return
            }
            // Port 0 means any free port.
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            guard !host.isEmpty, host.contains(":") == (text.hasPrefix("[")) else { return nil }
            self = .tcp(host: String(host), port: Int(port))
        }
    }
}
