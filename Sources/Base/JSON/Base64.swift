/// Base64 (RFC 4648), with padding and without line breaks: how binary data is carried in JSON.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The value of each character of the alphabet, by its byte; 255 for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The length of the Base64 text of `count` bytes.
    public static func length(ofBytes count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Bytes as Base64 with its padding (RFC 4648).
    public static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: length(ofBytes: bytes.count)) { text in
            alphabet.withUnsafeBufferPointer { alphabet in
                var (from, to) = (0, 0)
                while from < bytes.count {
                    let count = min(3, bytes.count - from)
                    var group: UInt32 = 0
                    for index in 0..<3 { group = group << 8 | (index < count ? UInt32(bytes[from + index]) : 0) }
                    for index in 0..<4 {
                        text[to + index] =
                            index <= count ? alphabet[Int(group >> UInt32(18 - 6 * index)) & 63] : padding
                    }
                    (from, to) = (from + count, to + 4)
                }
                return to
            }
        }
    }

    /// Bytes as Base64 with its padding (RFC 4648).
    public static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { encode($0) } }

    /// Decodes Base64. Nil if a character is not in the alphabet, the padding is missing, or the unused bits of the
    /// last character are not zero, so that every sequence of bytes has exactly one text.
    public static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode($0) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard let last = text.last else { return [] }
        let padded = last != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
        let count = text.count / 4 * 3 - padded
        var isRight = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { bytes, written in
            values.withUnsafeBufferPointer { values in
                var (from, to) = (0, 0)
                while from < text.count {
                    let missing = from + 4 == text.count ? padded : 0
                    var group: UInt32 = 0
                    for index in 0..<4 {
                        let value = index < 4 - missing ? values[Int(text[from + index])] : 0
                        if value == 255 { isRight = false }
                        group = group << 6 | UInt32(value & 63)
                    }
                    if missing > 0, group & (1 << UInt32(8 * missing) - 1) != 0 { isRight = false }
                    for index in 0..<3 {
                        bytes[to + index] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))
                    }
                    (from, to) = (from + 4, to + 3)
                }
            }
            written = isRight ? count : 0
        }
        return isRight ? bytes : nil
    }
}
