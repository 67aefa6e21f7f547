/// Decides what happens with an address that a page, one of its frames or a link navigates to.
///
/// A value without a window: addresses go in, decisions come out.
package struct NavigationRule: Sendable {
    /// The origins whose pages have the bridge and may be shown.
    package var origins: Set<String>
    /// Further origins that may be loaded, for example into frames. They have no bridge.
    package var resources: Set<String>
    /// Whether addresses can be calls: `call?…`, the bridge's own and the owner's schemes. A frame's address cannot be
    /// distinguished from the page's, so frames of other origins are not loaded while this is true.
    package var urlCalls: Bool
    /// The commands that `NAME://…` calls, by their schemes in lower case.
    package var schemes: [String: String]

    package init(origins: Set<String>, resources: Set<String> = [], urlCalls: Bool, schemes: [String] = []) {
        self.origins = origins
        self.resources = resources
        self.urlCalls = urlCalls
        self.schemes = schemes.reduce(into: [:]) { $0[$1.lowercased()] = $1 }
    }

    /// What to do.
    package enum Decision: Sendable, Hashable {
        case load
        /// A call as in the book: the text after `call?`.
        case call(String)
        /// A page's bridge requests its script.
        case bridgeLoaded
        /// The bridge of a page has messages.
        case bridgeMessages
        /// An address with one of the owner's schemes: the command of that name, and the whole address.
        case command(String, address: String)
        /// It is not loaded, for the reason given.
        case refuse(String)
    }

    /// - Parameters:
    ///   - text: the address, as WebKit gives it.
    ///   - page: the address of the page in the window; nil before the first page.
    package func decide(_ text: String, from page: String?) -> Decision {
        guard let address = PageAddress(text) else { return .refuse("it is not an address") }
        let pageOrigin = page.flatMap { PageAddress($0)?.origin }
        let isOurs = pageOrigin.map(origins.contains) ?? false
        if let decision = bridge(address) {
            return urlCalls && isOurs ? decision : .refuse("addresses are not calls here")
        }
        if let command = schemes[address.scheme] {
            return urlCalls && isOurs
                ? .command(command, address: text) : .refuse("addresses are not calls here")
        }
        if urlCalls, isOurs, address.origin == pageOrigin, let query = Self.call(address) { return .call(query) }
        return load(address)
    }

    /// An address that comes from another program.
    package func decideFromOutside(_ text: String) -> Decision {
        guard let address = PageAddress(text) else { return .refuse("it is not an address") }
        guard let command = schemes[address.scheme] else {
            return .refuse("'\(address.scheme)' is not in 'schemes' of the kiosk's settings")
        }
        return .command(command, address: text)
    }

    /// WebViewJavascriptBridge's own addresses, in upper or lower case.
    private func bridge(_ address: PageAddress) -> Decision? {
        guard ["wvjbscheme", "https"].contains(address.scheme) else { return nil }
        switch address.authority {
        case "__bridge_loaded__": return .bridgeLoaded
        case "__wvjb_queue_message__": return .bridgeMessages
        default: return address.scheme == "wvjbscheme" ? .refuse("it is not an address of the bridge") : nil
        }
    }

    /// The text after `call?`, which follows the page's folder or another one of its site.
    private static func call(_ address: PageAddress) -> String? {
        guard let query = address.query, !query.isEmpty, address.path == "/call" || address.path.hasSuffix("/call")
        else { return nil }
        return query
    }

    private func load(_ address: PageAddress) -> Decision {
        switch address.scheme {
        case "about": return .load
        case "blob":
            // A blob's address contains the origin that made it.
            let origin = PageAddress(String(address.text.dropFirst("blob:".count)))?.origin
            return origin.map(origins.contains) ?? false ? .load : .refuse("its origin is not listed")
        case "data": return urlCalls ? .refuse("a frame with this address could make calls (urlCalls is on)") : .load
        default: break
        }
        guard let origin = address.origin else { return .refuse("its kind is not shown here") }
        if origins.contains(origin) { return .load }
        guard resources.contains(origin) else {
            return .refuse("\(origin) is neither in 'origins' nor in 'resources' of the kiosk's settings")
        }
        return urlCalls ? .refuse("while 'urlCalls' is on, a frame of \(origin) could make calls by addresses") : .load
    }
}
