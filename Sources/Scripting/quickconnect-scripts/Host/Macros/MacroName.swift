internal import MacroEngine

/// The names of macros: JavaScript identifiers, because macros call each other by name.
enum MacroName {
    static let maximumBytes = 128

    /// Why a text is not such a name, as a sentence; nil if it is one.
    static func problem(of name: String) -> String? {
        if name.utf8.count > maximumBytes { return "the name of a macro has at most \(maximumBytes) bytes" }
        return MacroKey.problem(of: name)
    }

    static func isValid(_ name: String) -> Bool { problem(of: name) == nil }
}
