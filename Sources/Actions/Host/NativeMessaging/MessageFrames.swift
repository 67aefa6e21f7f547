/// Splits a browser's output into messages: a length of four bytes in this machine's byte order, then that many bytes
/// of JSON. A value without input or output.
package struct MessageFrames: Sendable {
    /// What came.
    package enum Frame: Sendable, Equatable {
        case message([UInt8])
        /// A message that is too long; its bytes are skipped.
        case tooLarge(bytes: Int)
    }

    /// The longest message that a browser accepts.
    package static let maximumBytes = 1 << 20
    /// No browser sends such a length, so the input does not come from one.
    private static let absurdBytes = 64 << 20

    private let limit: Int
    private var bytes: [UInt8] = []
    /// How many bytes of a message that is too long remain to be skipped.
    private var skipping = 0
    /// Whether the input is not valid. Then nothing more is read.
    package private(set) var isBroken = false

    /// - Parameter limit: the longest accepted message, in bytes.
    package init(limit: Int = Self.maximumBytes) { self.limit = limit }

    /// Takes input, and returns the frames that are now complete.
    package mutating func read(_ part: UnsafeRawBufferPointer) -> [Frame] {
        guard !isBroken else { return [] }
        let skipped = min(skipping, part.count)
        skipping -= skipped
        bytes += part[skipped...]
        var frames: [Frame] = []
        var start = 0
        while skipping == 0, bytes.count - start >= 4 {
            let length = Self.number(bytes[start..<start + 4])
            guard length <= Self.absurdBytes else {
                isBroken = true
                bytes = []
                return frames
            }
            let held = bytes.count - start - 4
            if length > limit {
                frames.append(.tooLarge(bytes: length))
                skipping = max(0, length - held)
                start += 4 + min(length, held)
            } else {
                guard held >= length else { break }
                frames.append(.message(Array(bytes[(start + 4)..<(start + 4 + length)])))
                start += 4 + length
            }
        }
        bytes.removeFirst(start)
        return frames
    }

    /// Whether it is between two frames, where the input may end.
    package var isAtBoundary: Bool { bytes.isEmpty && skipping == 0 && !isBroken }

    /// The supported machines are little-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    /// A message with its length in front; nil if a browser would not accept it.
    package static func frame(_ text: String) -> [UInt8]? {
        let length = text.utf8.count
        guard length <= maximumBytes else { return nil }
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + Array(text.utf8)
    }
}
