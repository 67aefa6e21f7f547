internal import JavaScriptCore
internal import QuickConnect

/// What the daemon would refuse to read. It could not say whose line it was, and a call would wait for ever.
enum OutgoingLine {
    /// Throws `tooLarge`.
    static func check(_ line: [UInt8], _ limits: Limits) throws(TooLarge) {
        guard line.count <= limits.lineBytes else {
            throw TooLarge(description: "the message is longer than \(limits.lineBytes) bytes")
        }
        // Nothing can be deeper than it is long.
        guard line.count > limits.depth, depth(line) > limits.depth else { return }
        throw TooLarge(description: "the message has more than \(limits.depth) arrays and objects inside each other")
    }

    /// How many arrays and objects are inside each other.
    private static func depth(_ line: [UInt8]) -> Int {
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

/// An error of JavaScript with the code `tooLarge`.
struct TooLarge: JSErrorConvertible, CustomStringConvertible {
    let description: String

    func jsError(in context: JSContext) -> JSValue {
        let error: JSValue = JSValue(newErrorFromMessage: description, in: context)
        error["code"] = JSValue(object: "tooLarge", in: context)
        return error
    }
}
