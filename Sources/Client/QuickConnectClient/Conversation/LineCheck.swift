/// Finds lines that the daemon would reject. It could not always tell whose line it was, and the call would wait
/// forever.
enum LineCheck {
    /// What is wrong with a line; nil if nothing is.
    static func problem(_ line: UnsafeBufferPointer<UInt8>, _ bounds: ClientConversation.Bounds) -> String? {
        guard line.count <= bounds.lineBytes else { return "the message is longer than \(bounds.lineBytes) bytes" }
        // Nothing can be deeper than it is long.
        guard line.count > bounds.depth, depth(line) > bounds.depth else { return nil }
        return "the message has more than \(bounds.depth) arrays and objects inside each other"
    }

    /// How deep arrays and objects are nested. In a line of the URL form they are encoded, so there are none.
    private static func depth(_ line: UnsafeBufferPointer<UInt8>) -> Int {
        var (depth, deepest) = (0, 0)
        var isText = false
        var isEscaped = false
        for byte in line {
            if isEscaped {
                isEscaped = false
            } else if isText {
                isEscaped = byte == UInt8(ascii: "\\")
                isText = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: break
                }
                deepest = max(deepest, depth)
            }
        }
        return deepest
    }
}
