package import JSON
internal import Linux

/// Columns for people. What a cell has that would steer the terminal is shown escaped.
package enum Table {
    /// Rows of two columns: the first as wide as it must be, the second wrapped to the terminal.
    package static func text(_ rows: [[String]], width: Int) -> String {
        let heads = rows.map { $0.first?.escapingControls ?? "" }
        let indent = (heads.map(\.count).max() ?? 0) + 2
        return zip(heads, rows).flatMap { head, row -> [String] in
            let lines = (row.count > 1 ? row[1] : "").wrapped(to: max(width - indent, 20))
            return [head.padded(to: indent) + (lines.first ?? "")]
                + lines.dropFirst().map { "".padded(to: indent) + $0 }
        }
        .map { $0.trimmingTrailingSpaces }.joined(separator: "\n")
    }

    /// Rows of any number of columns, each as wide as it must be.
    /// - Parameter right: the columns, from 0, that are aligned at their right side.
    package static func columns(_ rows: [[String]], right: Set<Int> = []) -> String {
        let rows = rows.map { $0.map(\.escapingControls) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.compactMap { column < $0.count ? $0[column].count : nil }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return right.contains(column) ? "\(space)\(cell)  " : "\(cell)\(space)  "
            }.joined().trimmingTrailingSpaces
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    fileprivate var trimmingTrailingSpaces: String {
        var text = self[...]
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}

extension JSONValue {
    /// A number for people: without a fraction if it has none.
    package static func short(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}

extension String {
    /// The text in lines of at most that many characters, broken between words. A longer word has a line of its own, and
    /// what would steer the terminal is shown escaped.
    package func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(whereSeparator: { $0 == " " || $0.isNewline }).map({ String($0).escapingControls }) {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? word : " \(word)"
        }
        return lines + (line.isEmpty ? [] : [line])
    }
}
