internal import JavaScriptCore

/// Finds the column of a mistake in a text, of which the engine's parser tells only the line.
struct MistakeColumn {
    let lines: [String]
    /// What stands before the text when it is parsed.
    let opening: String
    let parse: (String) -> JSError?

    /// More characters are not parsed for a column.
    private static let patience = 4 << 20

    /// The column, counted from 1 in UTF-16 units: where the shortest beginning of the line ends that has the same mistake.
    /// Nil where none has, and where the search would take too long.
    func of(_ error: JSError) -> Int? {
        guard let line = error.line, lines.indices.contains(line - 1) else { return nil }
        let before = opening + lines[..<(line - 1)].map { "\($0)\n" }.joined()
        let source = lines[line - 1]
        guard before.utf8.count * (source.count + 1) + source.count * source.count < Self.patience else { return nil }
        for end in source.indices {
            let beginning = source[...end]
            guard let found = parse(before + beginning), found.message == error.message, found.line == line else {
                continue
            }
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
