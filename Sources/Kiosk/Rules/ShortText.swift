/// Limits texts from a page that people see: a title, an address, a question. A page may make them of any length, and
/// the buttons of a window that large would be off the screen.
package enum ShortText {
    /// - Parameters:
    ///   - length: in Unicode scalars, since a single character may have any number of marks.
    ///   - lines: the most lines; nil: any number.
    package static func of(_ text: String, length: Int, lines: Int? = nil) -> String {
        // Avoids counting a long text to its end.
        var short = Substring(text.unicodeScalars.prefix(length))
        if let lines {
            let parts = short.split(maxSplits: lines, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            if parts.count > lines, let rest = parts.last { short = short[..<rest.startIndex].dropLast() }
        }
        return short.endIndex == text.endIndex ? text : "\(short)…"
    }
}
