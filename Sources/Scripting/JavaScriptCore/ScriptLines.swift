/// The lines of a script, as JavaScript counts them.
public enum ScriptLines {
    /// The text of a line, counted from 1; nil if there is no such line.
    public static func line(_ number: Int, of text: String) -> String? {
        let lines = split(text)
        return lines.indices.contains(number - 1) ? lines[number - 1] : nil
    }

    /// How many there are; an empty text has one.
    public static func count(_ text: String) -> Int { split(text).count }

    /// Whether it is a line break.
    public static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\r" || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    /// All lines, without their line breaks.
    public static func split(_ text: String) -> [String] {
        var lines: [String] = []
        var line = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            // A carriage return and the line feed after it are one break.
            if isBreak(scalar) {
                if !(scalar == "\n" && last == "\r") { lines.append(String(line)) }
                line = String.UnicodeScalarView()
            } else {
                line.append(scalar)
            }
            last = scalar
        }
        return lines + [String(line)]
    }
}
