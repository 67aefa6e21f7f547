internal import QuickConnect

/// Relative addresses: under which path a proxy shows the gateway, only the browser knows.
enum Location {
    /// A name as part of an address. The dot in front keeps a colon in it from being a scheme's.
    static func encode(_ name: String) -> String { "./\(PercentEncoding.encode(name))" }

    /// A page as seen from the root, for a query.
    static func encode(_ path: PagePath) -> String {
        PercentEncoding.encode("./" + path.names.joined(separator: "/") + (path.isFolder ? "/" : ""))
    }
}
