internal import Linux
internal import QuickConnect

extension PagePath {
    /// The relative address of the root: the gateway does not know under which path a proxy serves it.
    var toRoot: String {
        let depth = names.count - (isFolder || names.isEmpty ? 0 : 1)
        return String(repeating: "../", count: depth)
    }

    private static let publicFiles: Set<String> = ["style.css", "favicon.ico", "favicon.svg"]

    /// Whether the log-in page needs it, so that it is served without log-in.
    var isPublic: Bool {
        guard let first = names.first else { return false }
        return first == "login" || (names.count == 1 && first.hasPrefix("login.")) || Self.publicFiles.contains(file)
    }
}

/// Relative addresses, because only the browser knows under which path a proxy serves the gateway.
enum Location {
    /// A name as part of an address. The leading `./` prevents a colon in it from looking like a scheme's.
    static func encode(_ name: String) -> String { "./\(PercentEncoding.encode(name))" }

    /// A page relative to the root, for a query.
    static func encode(_ path: PagePath) -> String {
        PercentEncoding.encode("./" + path.names.joined(separator: "/") + (path.isFolder ? "/" : ""))
    }
}
