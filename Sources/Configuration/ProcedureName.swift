/// What stored procedures and their files may be called.
public enum ProcedureName {
    /// Whether a procedure may have that name: letters, digits, `_` and `-` of ASCII, so that a name is never a path.
    public static func isName(_ name: some StringProtocol) -> Bool {
        (1...100).contains(name.utf8.count) && !name.hasPrefix("-")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }

    /// Whether a file of a server may have that name: `NAME.js`, or `lib/NAME.js` for what procedures share.
    public static func isFile(_ file: String) -> Bool {
        guard file.hasSuffix(".js") else { return false }
        return isName(file.dropFirst(isShared(file) ? 4 : 0).dropLast(3))
    }

    /// Whether a file is loaded by procedures, and none itself.
    public static func isShared(_ file: String) -> Bool { file.hasPrefix("lib/") }
}
