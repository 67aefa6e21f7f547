/// The names of macros and blocks in JavaScript: ECMAScript's identifiers that may name a variable.
public enum MacroKey {
    /// Why a text is not such a name, as a sentence; nil if it is one.
    ///
    /// Reserved words are refused, including those of strict mode, so that every macro can use every name; so are
    /// globals that cannot be set.
    public static func problem(of key: String) -> String? {
        if reserved.contains(key) { return "'\(key)' is a reserved word of JavaScript: choose another name" }
        if unsettable.contains(key) { return "JavaScript's '\(key)' cannot be replaced: choose another name" }
        guard isIdentifier(key) else {
            return "'\(key)' is not a JavaScript name: letters, digits, _ and $, and no digit first"
        }
        return nil
    }

    private static func isIdentifier(_ key: String) -> Bool {
        guard let first = key.unicodeScalars.first, isStart(first) else { return false }
        return key.unicodeScalars.dropFirst().allSatisfy(isPart)
    }

    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDStart
    }

    /// Whether a character may follow the first one in a name, including the joiners that some writing systems need.
    static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar.properties.isIDContinue || scalar == "\u{200c}" || scalar == "\u{200d}"
    }

    private static let reserved: Set<String> = [
        "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
        "enum", "export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new",
        "null", "return", "super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with",
        "yield", "let", "static", "implements", "interface", "package", "private", "protected", "public", "eval",
        "arguments",
    ]

    private static let unsettable: Set<String> = ["undefined", "NaN", "Infinity", "__proto__"]
}
