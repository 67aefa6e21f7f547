/// Puts lines together from the pieces that a socket gives. Linear in the bytes, whatever their pieces.
public struct LineReader {
    private var bytes: [UInt8] = []
    private var start = 0
    private var searched = 0

    public init() {}

    /// How many bytes wait for the rest of their line.
    public var pendingCount: Int { bytes.count - start }

    public mutating func append(_ piece: UnsafeRawBufferPointer) {
        if start > 0, start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            (start, searched) = (0, 0)
        } else if start > bytes.count / 2 {
            bytes.removeFirst(start)
            (start, searched) = (0, searched - start)
        }
        bytes.append(contentsOf: piece)
    }

    /// The next whole line, without its line break.
    public mutating func next() -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            return nil
        }
        let line = bytes[start..<end]
        start = end + 1
        searched = start
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
}
