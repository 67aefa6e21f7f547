internal import Linux

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
