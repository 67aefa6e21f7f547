extension String {
    /// The text on one line that no terminal obeys: control characters and line separators as JSON escapes them.
    public var escapingControls: String {
        // Nearly every line.
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            switch (scalar, scalar.properties.generalCategory) {
            case ("\n", _): escaped += "\\n"
            case ("\r", _): escaped += "\\r"
            case ("\t", _): escaped += "\\t"
            case (_, .control), (_, .format), (_, .lineSeparator), (_, .paragraphSeparator):
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
