internal import JavaScriptCore

/// Reads the beginning of a macro's text: comments, words, single characters.
struct MacroScanner {
    private let scalars: Substring.UnicodeScalarView
    private(set) var position: String.Index

    init(_ text: Substring) {
        scalars = text.unicodeScalars
        position = scalars.startIndex
    }

    /// What is left.
    var rest: Substring { Substring(scalars[position...]) }
    var isAtEnd: Bool { position == scalars.endIndex }

    func isAt(_ text: String) -> Bool { scalars[position...].starts(with: text.unicodeScalars) }

    /// Skips white space, comments and the characters of `others`. Stops before a comment without an end.
    mutating func skipTrivia(and others: Set<Unicode.Scalar> = []) {
        while let scalar = scalars[position...].first {
            if Self.isSpace(scalar) || others.contains(scalar) {
                position = scalars.index(after: position)
            } else if isAt("//") {
                position = scalars[position...].firstIndex(where: ScriptLines.isBreak) ?? scalars.endIndex
            } else if !isAt("/*") || !skipComment() {
                return
            }
        }
    }

    private mutating func skipComment() -> Bool {
        var index = scalars.index(position, offsetBy: 2)
        while let star = scalars[index...].firstIndex(of: "*") {
            index = scalars.index(after: star)
            guard scalars[index...].first == "/" else { continue }
            position = scalars.index(after: index)
            return true
        }
        return false
    }

    /// Takes a word; empty if there is none.
    mutating func word() -> String {
        let word = scalars[position...].prefix(while: MacroKey.isPart)
        position = word.endIndex
        return String(word)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar == "\u{feff}"
    }
}
