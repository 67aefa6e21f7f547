internal import JavaScriptCore

/// Checks that a text is one function and nothing else, without running it.
///
/// The engine's own parser decides: each question wraps the text in other code that is valid only if the answer is yes.
struct MacroParser {
    let context: JSContext
    let text: MacroText

    private static let oneFunction =
        "SyntaxError: the text of a macro is one function and nothing else: function() {…} or () => {…}"

    /// The function in the text: everything except semicolons after it. Throws the first mistake.
    func function() throws(MacroError) -> Substring {
        let whole = text.text[...]
        guard let mistake = mistake(in: whole) else { return try one(whole) }
        for candidate in Self.withoutSemicolons(whole) where self.mistake(in: candidate) == nil {
            return try one(candidate)
        }
        throw mistake
    }

    /// Throws if an expression is not a function, or more than one.
    private func one(_ expression: Substring) throws(MacroError) -> Substring {
        // Here, unlike within brackets, a comma cannot separate two expressions.
        guard parses("for (macro of \(expression)\n);"), isFunction(expression) else {
            throw text.mistake(Self.oneFunction, line: 1)
        }
        return expression
    }

    // MARK: An expression

    /// Why the text is not an expression. A text that closes the surrounding bracket and opens another fails in
    /// brackets of another kind; the first error is that of the text itself.
    private func mistake(in expression: Substring) -> MacroError? {
        let errors = [("(", ")"), ("[", "]")].map { (opening: $0, error: error("\($0)\(expression)\n\($1)")) }
        let found = errors.compactMap { opening, error in error.map { (opening, $0) } }
        guard let (opening, first) = found.min(by: { $0.1.line ?? .max < $1.1.line ?? .max }) else { return nil }
        let isWithin = first.line.map { $0 <= ScriptLines.count(text.text) } ?? true
        // The error is at the closing bracket: the text ends too early.
        guard isWithin, let line = first.line else { return unfinished(expression) }
        let isOfBracket = errors.contains { $0.error?.message != first.message }
        let column = MistakeColumn(lines: ScriptLines.split(text.text), opening: opening, parse: error).of(first)
        return text.mistake(Self.message(first, isOfBracket: isOfBracket), line: line, column: column)
    }

    private func unfinished(_ expression: Substring) -> MacroError {
        guard let error = error("(\(expression)") else { return text.mistake(Self.oneFunction, line: 1) }
        let end = error.line.flatMap { ScriptLines.line($0, of: text.text) }.map { $0.utf16.count + 1 }
        return text.mistake(Self.message(error, isOfBracket: false), line: error.line, column: end)
    }

    /// The parser's message, without what it expects because of the bracket.
    private static func message(_ error: JSError, isOfBracket: Bool) -> String {
        let name = error.name.map { "\($0): " } ?? ""
        guard isOfBracket, let end = error.message.firstRange(of: ". ") else { return name + error.message }
        return name + error.message[..<end.lowerBound]
    }

    private func error(_ script: String) -> JSError? { context.firstMistake(in: script, sourceURL: text.file) }

    private func parses(_ script: String) -> Bool { error(script) == nil }

    // MARK: One function

    /// Whether an expression is a function from its first character to its last.
    private func isFunction(_ expression: Substring) -> Bool {
        var scanner = MacroScanner(expression)
        scanner.skipTrivia()
        var word = scanner.word()
        scanner.skipTrivia()
        var async = ""
        if word == "async", !scanner.isAt("=>") {
            async = "async "
            word = scanner.word()
            scanner.skipTrivia()
        }
        switch word {
        case "function": return isFunction(behindWord: &scanner, async)
        case "": return scanner.isAt("(") && isArrow(scanner.rest, async)
        default: return scanner.isAt("=>")
        }
    }

    /// Placed as a method of an object, it cannot be called, and only another member may follow.
    private func isFunction(behindWord scanner: inout MacroScanner, _ async: String) -> Bool {
        scanner.skipTrivia()
        _ = scanner.word()
        scanner.skipTrivia()
        return scanner.isAt("(") && parses("({\(async)macro\(scanner.rest)\n})")
    }

    /// The most arrows that are tried; parameters do not contain more.
    private static let maximumArrows = 32

    /// Whether the text before an arrow is a parameter list.
    private func isArrow(_ expression: Substring, _ async: String) -> Bool {
        var start = expression.startIndex
        for _ in 0..<Self.maximumArrows {
            guard let arrow = expression[start...].firstRange(of: "=>") else { return false }
            if parses("(\(async)function\(expression[..<arrow.lowerBound]){}\n)") { return true }
            start = arrow.upperBound
        }
        return false
    }

    // MARK: Semicolons

    /// The most semicolons that are tried.
    private static let maximumSemicolons = 16

    /// The text before each semicolon that only comments and other semicolons follow, the longest first.
    private static func withoutSemicolons(_ text: Substring) -> [Substring] {
        var found: [Substring] = []
        var rest = text.unicodeScalars
        while found.count < maximumSemicolons, let index = rest.lastIndex(of: ";") {
            var scanner = MacroScanner(text[index...])
            scanner.skipTrivia(and: [";"])
            guard scanner.isAtEnd else { break }
            found.append(text[..<index])
            rest = rest[..<index]
        }
        return found
    }
}
