extension String {
    /// The text on one line, safe for a terminal: control characters and line separators are escaped as in JSON.
    package var escapingControls: String {
        // True for nearly every line.
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

    /// A line of a program's text, safe for a terminal: its tabs stay.
    package var escapingAllButTabs: String {
        split(separator: "\t", omittingEmptySubsequences: false)
            .map { String($0).escapingControls }.joined(separator: "\t")
    }

    /// The text as one word of a shell command.
    package var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "/._-+:@".utf8.contains(byte)
                }
            }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}
