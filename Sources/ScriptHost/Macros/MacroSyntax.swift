internal import JSON
internal import JavaScriptCore

/// What the parser says of a macro's text.
struct MacroSyntax {
    let context: JSContext

    /// More is not looked through for the column.
    private static let patience = 4 << 20

    /// The first mistake of a script, as `{"message", "line", "column"}`; nil where it parses. Nothing of it runs.
    /// - Parameters:
    ///   - script: what is parsed: the text and what stands around it.
    ///   - text: the text, which stands behind the script's first character.
    func mistake(in script: String, of text: String) -> JSONValue? {
        guard let error = error(in: script) else { return nil }
        var members: JSONObject = ["message": .string("\(error.name ?? "SyntaxError"): \(error.message)")]
        guard let line = error.line else { return .object(members) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if line > lines.count || error.message.hasPrefix("Unexpected end of script") {
            // What stands behind the text is not the author's.
            members["message"] = "SyntaxError: the text ends in the middle of the function"
            members["line"] = .integer(Int64(lines.count))
            members["column"] = .integer(Int64((lines.last?.utf16.count ?? 0) + 1))
            return .object(members)
        }
        members["line"] = .integer(Int64(line))
        if let column = column(of: error, at: line, lines) { members["column"] = .integer(Int64(column)) }
        return .object(members)
    }

    private func error(in script: String) -> JSError? {
        do throws(JSError) {
            try context.checkSyntax(script)
            return nil
        } catch {
            return error
        }
    }

    /// The engine does not tell it: it is where the shortest beginning of the line ends that has the same mistake.
    private func column(of error: JSError, at line: Int, _ lines: [Substring]) -> Int? {
        guard lines.indices.contains(line - 1) else { return nil }
        let before = "(" + lines[..<(line - 1)].map { "\($0)\n" }.joined()
        let source = lines[line - 1]
        guard before.utf8.count * (source.count + 1) + source.count * source.count < Self.patience else { return nil }
        for end in source.indices {
            let beginning = source[...end]
            guard let found = self.error(in: before + beginning), found.message == error.message, found.line == line
            else { continue }
            return beginning.utf16.count - Self.token(in: error.message).utf16.count + 1
        }
        return nil
    }

    /// What the message quotes at its beginning, which the mistake begins with: `Unexpected token ';'`.
    private static func token(in message: String) -> Substring {
        let sentence = message.prefix { $0 != "." }
        let parts = sentence.split(separator: "'", omittingEmptySubsequences: false)
        guard sentence.hasPrefix("Unexpected"), parts.count == 3, !parts[1].isEmpty else { return "x" }
        return parts[1]
    }
}
