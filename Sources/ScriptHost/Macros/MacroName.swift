/// The names that macros may have: identifiers of JavaScript, for macros call each other by them.
enum MacroName {
    static let maximumBytes = 128

    static func isValid(_ name: String) -> Bool {
        guard name.utf8.count <= maximumBytes, let first = name.unicodeScalars.first, isStart(first) else {
            return false
        }
        return name.unicodeScalars.dropFirst().allSatisfy(isPart) && !reserved.contains(name)
    }

    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isIDStart || scalar == "$" || scalar == "_"
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isIDContinue || scalar == "$" }

    private static let reserved: Set<String> = [
        "arguments", "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
        "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if",
        "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private",
        "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof", "var",
        "void", "while", "with", "yield",
    ]
}
