internal import Layout

/// The names of stored procedures and of their files.
public enum ProcedureName {
    /// Whether a procedure may have that name: a plain one, which is never a path.
    public static func isName(_ name: some StringProtocol) -> Bool { PlainName.isValid(name) }

    /// Whether a file of a server may have that name: `NAME.js`, or `lib/NAME.js` for what procedures share.
    public static func isFile(_ file: String) -> Bool {
        guard file.hasSuffix(".js") else { return false }
        return isName(file.dropFirst(isShared(file) ? 4 : 0).dropLast(3))
    }

    /// Whether a file is a library for procedures, and not a procedure itself.
    public static func isShared(_ file: String) -> Bool { file.hasPrefix("lib/") }
}
