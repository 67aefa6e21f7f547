internal import JSON

/// The rules with which WebKit itself blocks everything that is not listed: pictures, scripts, requests, WebSockets,
/// frames.
package enum ContentFilter {
    /// The text of a content blocker that blocks everything except what is listed.
    /// - Parameter origins: such as `https://example.org`. Files served from a folder, and a page's own data (`data:`,
    ///   `blob:`), are always allowed.
    package static func json(_ origins: Set<String>) -> String {
        var rules: [JSONValue] = [rule(".*", "block")]
        for own in ["^qc://", "^data:", "^blob:", "^about:"] { rules.append(rule(own, "ignore-previous-rules")) }
        for origin in origins.sorted() {
            for each in [origin, webSocket(origin)].compactMap(\.self) {
                rules.append(rule("^\(escaped(each))[/:?#]", "ignore-previous-rules"))
            }
        }
        return JSONValue.array(rules).text
    }

    private static func rule(_ pattern: String, _ action: String) -> JSONValue {
        ["trigger": ["url-filter": .string(pattern)], "action": ["type": .string(action)]]
    }

    /// A WebSocket's address at the same host and port.
    private static func webSocket(_ origin: String) -> String? {
        origin.hasPrefix("http") ? "ws" + origin.dropFirst("http".count) : nil
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if ".+*?()[]{}^$|\\".contains(character) { result.append("\\") }
            result.append(character)
        }
    }
}
