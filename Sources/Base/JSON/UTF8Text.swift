/// UTF-8 as defined in Unicode 15, table 3-7.
public enum UTF8Text {
    /// The length in bytes of the well-formed character at an index; 0 if it is not well-formed.
    public static func length(at index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let first = bytes[index]
        func continues(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            index + offset < bytes.count && range.contains(bytes[index + offset])
        }
        switch first {
        case 0..<0x80: return 1
        case 0xC2...0xDF: return continues(1) ? 2 : 0
        case 0xE0: return continues(1, 0xA0...0xBF) && continues(2) ? 3 : 0
        case 0xED: return continues(1, 0x80...0x9F) && continues(2) ? 3 : 0
        case 0xE1...0xEF: return continues(1) && continues(2) ? 3 : 0
        case 0xF0: return continues(1, 0x90...0xBF) && continues(2) && continues(3) ? 4 : 0
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : 0
        case 0xF4: return continues(1, 0x80...0x8F) && continues(2) && continues(3) ? 4 : 0
        default: return 0
        }
    }

    /// Whether all bytes are UTF-8 text.
    public static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let length = length(at: index, in: bytes)
            if length == 0 { return false }
            index += length
        }
        return true
    }
}
