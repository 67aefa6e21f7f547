/// Lines of the daemon as the script is given them: one JSON array.
enum MessageList {
    /// - Parameters:
    ///   - lines: messages, each with its line break.
    ///   - stray: is given each line that is no object: the daemon's refusal of a connection.
    static func array(of lines: [UInt8], stray: (ArraySlice<UInt8>) -> Void) -> [UInt8] {
        joined(lines) ?? sorted(lines, stray: stray)
    }

    /// The lines with commas for their line breaks; nil where one of them is no object. JSON has no line breaks in its
    /// texts, so each ends a line.
    private static func joined(_ lines: [UInt8]) -> [UInt8]? {
        guard lines.first == UInt8(ascii: "{") else { return nil }
        var strays = 0
        let array = [UInt8](unsafeUninitializedCapacity: lines.count + 1) { array, filled in
            array[0] = UInt8(ascii: "[")
            // One byte after the other without a branch, which the compiler makes sixteen at a time.
            for index in 0..<lines.count - 1 {
                let isEnd = lines[index] == UInt8(ascii: "\n")
                array[index + 1] = isEnd ? UInt8(ascii: ",") : lines[index]
                strays &+= isEnd && lines[index + 1] != UInt8(ascii: "{") ? 1 : 0
            }
            array[lines.count] = UInt8(ascii: "]")
            filled = lines.count + 1
        }
        return strays == 0 ? array : nil
    }

    private static func sorted(_ lines: [UInt8], stray: (ArraySlice<UInt8>) -> Void) -> [UInt8] {
        var array = [UInt8(ascii: "[")]
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard line.first == UInt8(ascii: "{") else {
                stray(line)
                continue
            }
            if array.count > 1 { array.append(UInt8(ascii: ",")) }
            array += line
        }
        array.append(UInt8(ascii: "]"))
        return array
    }
}
