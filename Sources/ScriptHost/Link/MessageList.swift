internal import Glibc

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
        var array = [UInt8](unsafeUninitializedCapacity: lines.count + 1) { array, filled in
            array[0] = UInt8(ascii: "[")
            _ = UnsafeMutableBufferPointer(rebasing: array[1...]).initialize(from: lines)
            filled = lines.count + 1
        }
        array.withUnsafeMutableBytes { array in
            var rest = array[1...]
            while let end = rest.firstLineBreak {
                array[end] = UInt8(ascii: ",")
                rest = array[(end + 1)...]
                if let first = rest.first, first != UInt8(ascii: "{") { strays += 1 }
            }
            array[array.count - 1] = UInt8(ascii: "]")
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

extension Slice<UnsafeMutableRawBufferPointer> {
    /// Where the next line break is; memchr(3) looks at many bytes at a time.
    fileprivate var firstLineBreak: Int? {
        guard let start = base.baseAddress, let found = memchr(start + startIndex, 0x0A, count) else { return nil }
        return found - UnsafeMutableRawPointer(start)
    }
}
