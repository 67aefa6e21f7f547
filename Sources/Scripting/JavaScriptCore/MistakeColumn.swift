/// Finds the column of a syntax error, for which the engine's parser reports only the line.
public struct MistakeColumn {
    private let lines: [String]
    private let opening: String
    private let parse: (String) -> JSError?

    /// - Parameters:
    ///   - lines: the lines of the text.
    ///   - opening: what precedes the text when it is parsed.
    ///   - parse: returns the first mistake of a script; nil if it has none.
    public init(lines: [String], opening: String = "", parse: @escaping (String) -> JSError?) {
        self.lines = lines
        self.opening = opening
        self.parse = parse
    }

    /// The parser's message if the text ends too early.
    private static let unfinished = "Unexpected end of script"

    /// The search for a column parses at most this many characters.
    private static let timeout = 4 << 20

    /// The column, counted from 1 in UTF-16 units: the end of the shortest beginning of the line that has the same
    /// mistake, or the position after the line if the text ends too early. Nil if no beginning has it, and if the
    /// search would take too long.
    public func of(_ error: JSError) -> Int? {
        guard let line = error.line, lines.indices.contains(line - 1) else { return nil }
        // Each beginning of an unfinished text is unfinished, too.
        guard !error.message.hasPrefix(Self.unfinished) else { return lines[line - 1].utf16.count + 1 }
        let before = opening + lines[..<(line - 1)].map { "\($0)\n" }.joined()
        let source = lines[line - 1]
        guard before.utf8.count * (source.count + 1) + source.count * source.count < Self.timeout else { return nil }
        for end in source.indices {
            let beginning = source[...end]
            guard let found = parse(before + beginning), found.message == error.message, found.line == line else {
                continue
            }
            return beginning.utf16.count - Self.token(in: error.message).utf16.count + 1
        }
        return nil
    }

    /// The token quoted at the start of the message, where the mistake begins: `Unexpected token ';'`.
    private static func token(in message: String) -> Substring {
        let sentence = message.prefix { $0 != "." }
        let parts = sentence.split(separator: "'", omittingEmptySubsequences: false)
        guard sentence.hasPrefix("Unexpected"), parts.count == 3, !parts[1].isEmpty else { return "x" }
        return parts[1]
    }
}

extension JSContext {
    /// The first mistake of a script, with its line and, if it can be found, its column; nil if it has none. Runs
    /// nothing. If there is a mistake, this takes longer than ``checkSyntax(_:sourceURL:line:)``.
    /// - Parameters:
    ///   - script: the text.
    ///   - sourceURL: the file name in the error.
    public func mistake(in script: String, sourceURL: String? = nil) -> JSError? {
        guard var mistake = firstMistake(in: script, sourceURL: sourceURL) else { return nil }
        let column = MistakeColumn(lines: ScriptLines.split(script)) { self.firstMistake(in: $0, sourceURL: sourceURL) }
        mistake.column = mistake.column ?? column.of(mistake)
        return mistake
    }

    /// The first mistake of a script, with its line; nil if it has none. Runs nothing.
    public func firstMistake(in script: String, sourceURL: String? = nil) -> JSError? {
        do throws(JSError) {
            try checkSyntax(script, sourceURL: sourceURL)
            return nil
        } catch {
            return error
        }
    }
}
