/// A text that a page has made, where people see it: a title, an address, a question. A page may make it as long as it
/// likes, and a window of that size has no buttons that anybody reaches.
public enum ShortText {
    /// - Parameters:
    ///   - length: in Unicode scalars, since a single character may have any number of marks.
    ///   - lines: how many there may be; nil: any number.
    public static func of(_ text: String, length: Int, lines: Int? = nil) -> String {
        // A long text is not counted to its end.
        var short = Substring(text.unicodeScalars.prefix(length))
        if let lines {
            let parts = short.split(maxSplits: lines, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            if parts.count > lines, let rest = parts.last { short = short[..<rest.startIndex].dropLast() }
        }
        return short.endIndex == text.endIndex ? text : "\(short)…"
    }
}
