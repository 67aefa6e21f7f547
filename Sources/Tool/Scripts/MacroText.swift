import JSON
import Linux

/// Where a macro failed, for people: the place, the line with a mark below the column, and the calls that led there.
struct MacroPlace {
    let error: JSONObject

    init(_ error: JSONObject) { self.error = error }

    var text: String {
        let line = error["line"]?.integerValue
        let file = error["file"]?.stringValue ?? error["macro"]?.stringValue
        var lines: [String] = []
        if let file, line != nil || error["stack"] != nil {
            let place = [line, error["column"]?.integerValue].compactMap { $0 }.map { ":\($0)" }.joined()
            lines.append("  \(file)\(place)")
        }
        lines += Self.marked(error).map { "      \($0)" }
        return lines.joined(separator: "\n")
    }

    /// The line, and a caret below its column.
    static func marked(_ error: JSONObject) -> [String] {
        guard let source = error["source"]?.stringValue else { return [] }
        guard let column = error["column"]?.integerValue, column > 0, column <= Int64(source.utf16.count) + 1 else {
            return [source.escapingAllButTabs]
        }
        // Tabs stay, so that the caret stands below.
        let before = String(decoding: source.utf16.prefix(Int(column) - 1), as: UTF16.self).escapingAllButTabs
        return [source.escapingAllButTabs, before.utf16.map { $0 == 9 ? "\t" : " " }.joined() + "^"]
    }
}

/// A macro's text with line numbers.
enum ListedMacro {
    static func text(_ text: String, mistake: JSONObject?) -> String {
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        if lines.last == "" { lines.removeLast() }
        let width = max(3, "\(lines.count)".count)
        let marked = mistake?["line"]?.integerValue
        return lines.enumerated().flatMap { index, line -> [String] in
            let number = "\(index + 1)"
            let isMarked = marked == Int64(index + 1)
            let space = String(repeating: " ", count: width - number.count)
            let shown = "\(isMarked ? ">" : " ")\(space)\(number)  \(String(line).escapingAllButTabs)"
            guard isMarked, let mistake else { return [shown] }
            let caret = MacroPlace.marked(mistake).dropFirst()
            let indent = String(repeating: " ", count: width + 3)
            return [shown] + (caret + [mistake["message"]?.stringValue?.escapingAllButTabs ?? ""]).map { indent + $0 }
        }.joined(separator: "\n")
    }
}
