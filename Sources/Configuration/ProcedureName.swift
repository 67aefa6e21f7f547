internal import Linux

/// The names of stored procedures and of their files.
package enum ProcedureName {
    /// Whether a procedure may have that name: a plain one, which is never a path.
    package static func isName(_ name: some StringProtocol) -> Bool { PlainName.isValid(name) }

    /// Whether a file of a server may have that name: `NAME.js`, or `lib/NAME.js` for what procedures share.
    package static func isFile(_ file: String) -> Bool {
        guard file.hasSuffix(".js") else { return false }
        return isName(file.dropFirst(isShared(file) ? 4 : 0).dropLast(3))
    }

    /// Whether a file is a library for procedures, and not a procedure itself.
    package static func isShared(_ file: String) -> Bool { file.hasPrefix("lib/") }
}
