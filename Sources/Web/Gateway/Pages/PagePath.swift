internal import Linux
internal import QuickConnect

extension PagePath {
    private static let publicFiles: Set<String> = ["style.css", "favicon.ico", "favicon.svg"]

    /// Whether the log-in page needs it, so that it is served without log-in.
    var isPublic: Bool {
        guard let first = names.first else { return false }
        return first == "login" || (names.count == 1 && first.hasPrefix("login.")) || Self.publicFiles.contains(file)
    }
}

/// Relative addresses, because only the browser knows under which path a proxy serves the gateway.
enum Location {
    /// The root, from the page of a target, also of one where no page can be.
    static func root(from target: String) -> String {
        let slashes = target.utf8.prefix { $0 != UInt8(ascii: "?") }.count { $0 == UInt8(ascii: "/") }
        return String(repeating: "../", count: max(0, slashes - 1))
    }

    /// A name as part of an address. The leading `./` prevents a colon in it from looking like a scheme's.
    static func encode(_ name: String) -> String { "./\(PercentEncoding.encode(name))" }

    /// A page relative to the root, for a query.
    static func encode(_ path: PagePath) -> String {
        PercentEncoding.encode("./" + path.names.joined(separator: "/") + (path.isFolder ? "/" : ""))
    }
}
