internal import Linux
internal import QuickConnect

/// Relative addresses, because only the browser knows under which path a proxy serves the gateway.
enum Location {
    /// A name as part of an address. The leading `./` prevents a colon in it from looking like a scheme's.
    static func encode(_ name: String) -> String { "./\(PercentEncoding.encode(name))" }

    /// A page relative to the root, for a query.
    static func encode(_ path: PagePath) -> String {
        PercentEncoding.encode("./" + path.names.joined(separator: "/") + (path.isFolder ? "/" : ""))
    }
}
