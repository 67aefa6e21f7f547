/// Splits what a browser writes into messages: four bytes of length, as this machine orders them, and so many bytes of JSON.
/// A value without input or output.
public struct MessageFrames: Sendable {
    /// What came.
    public enum Frame: Sendable, Equatable {
        case message([UInt8])
        /// A message that is longer than what is read; its bytes are skipped.
        case tooLarge(bytes: Int)
    }

    /// The longest message that a browser takes.
    public static let maximumBytes = 1 << 20
    /// What no browser sends: the bytes are none of its own.
    private static let absurdBytes = 64 << 20

    private let limit: Int
    private var bytes: [UInt8] = []
    /// How many bytes of a message that is too long are still to come.
    private var skipping = 0
    /// Whether the bytes are no frames. Nothing more is read then.
    public private(set) var isBroken = false

    /// - Parameter limit: the longest message that is taken, in bytes.
    public init(limit: Int = Self.maximumBytes) { self.limit = limit }

    /// Takes in what came, and gives the frames that are whole now.
    public mutating func read(_ part: UnsafeRawBufferPointer) -> [Frame] {
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

    /// Whether it stands between two frames, where an end of input is one.
    public var isAtBoundary: Bool { bytes.isEmpty && skipping == 0 && !isBroken }

    /// The machines that this runs on put the least first.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    /// A message with its length in front; nil where a browser would not take it.
    public static func frame(_ text: String) -> [UInt8]? {
        let length = text.utf8.count
        guard length <= maximumBytes else { return nil }
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + Array(text.utf8)
    }
}
