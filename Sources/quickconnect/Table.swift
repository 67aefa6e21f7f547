import Glibc
import JSON
import QuickConnect

/// Columns for people.
enum Table {
    /// Rows of two columns: the first as wide as it must be, the second wrapped to the terminal.
    static func text(_ rows: [[String]], width: Int) -> String {
        let first = rows.compactMap(\.first?.count).max() ?? 0
        let indent = first + 2
        return rows.flatMap { row -> [String] in
            let lines = wrap(row.count > 1 ? row[1] : "", to: max(width - indent, 20))
            let head = (row.first ?? "").padded(to: indent)
            return [head + (lines.first ?? "")] + lines.dropFirst().map { "".padded(to: indent) + $0 }
        }
        .map { $0.trimmingTrailingSpaces }.joined(separator: "\n")
    }

    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return lines + (line.isEmpty ? [] : [line])
    }
}

enum Terminal {
    /// The width of the terminal; where there is none, wide enough not to wrap.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 4096 }
        return Int(size.ws_col)
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
    /// A number for people: without a fraction where it has none.
    static func short(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}
