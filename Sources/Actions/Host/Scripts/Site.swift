/// The pages on which an action is allowed: those of one origin, of a host and all its subdomains, or of the whole Web.
package struct Site: Sendable, Hashable, CustomStringConvertible {
    private enum Reach: Hashable {
        case all, below, one
    }

    private let reach: Reach
    private let origin: WebOrigin?

    /// All pages of http and https.
    package static let everywhere = Site(reach: .all, origin: nil)

    package static let expectation = "https://example.org, https://*.example.org, qc://app, file:// or *"

    /// Parses what an owner writes: an address without a path, with `*.` before the host to include its subdomains, or
    /// `*`. A host alone means https. Nil for anything else.
    package init?(_ text: String) {
        if text == "*" {
            self = .everywhere
            return
        }
        let address = text.contains("://") ? text : "https://\(text)"
        let scheme = address.prefix { $0 != ":" }
        var rest = address.dropFirst(scheme.count + 3)
        if rest.hasSuffix("/"), rest.count > 1 || scheme != "file" { rest = rest.dropLast() }
        let isBelow = rest.hasPrefix("*.")
        if isBelow { rest = rest.dropFirst(2) }
        guard !rest.contains(where: { "*@/?#".contains($0) }), let origin = WebOrigin("\(scheme)://\(rest)") else {
            return nil
        }
        self.init(reach: isBelow ? .below : .one, origin: origin)
    }

    private init(reach: Reach, origin: WebOrigin?) {
        self.reach = reach
        self.origin = origin
    }

    package func contains(_ page: WebOrigin) -> Bool {
        guard let origin else { return page.scheme == "https" || page.scheme == "http" }
        guard reach == .below else { return page == origin }
        return page.scheme == origin.scheme && page.port == origin.port
            && (page.host == origin.host || page.host.hasSuffix(".\(origin.host)"))
    }

    /// As an owner would write it.
    package var description: String {
        guard let origin else { return "*" }
        guard reach == .below else { return origin.description }
        return "\(origin.scheme)://*.\(origin.description.dropFirst(origin.scheme.count + 3))"
    }
}
