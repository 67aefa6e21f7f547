/// Lines out of what comes in pieces.
struct ReceivedLines {
    private var bytes: [UInt8] = []
    /// How much of the bytes holds no line break.
    private var searched = 0

    /// More than gpsd's longest line, which has some 10 KB.
    static let mostBytes = 1 << 16

    /// Takes what came.
    /// - Returns: false where it is more than a line can be.
    mutating func append(_ piece: ArraySlice<UInt8>) -> Bool {
        bytes += piece
        return bytes.count <= Self.mostBytes
    }

    /// The next whole line that is not empty, without its line break.
    mutating func next() -> String? {
        while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: bytes[..<end], as: UTF8.self)
            bytes.removeSubrange(...end)
            searched = 0
            if line.utf8.contains(where: { $0 > 0x20 }) { return line }
        }
        searched = bytes.count
        return nil
    }
}
