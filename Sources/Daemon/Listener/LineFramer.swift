internal import Glibc

/// Finds the lines in what a connection sends. A value without I/O: bytes in, ranges out.
struct LineFramer {
    enum Step: Equatable {
        /// The range of a line, without its line break.
        case line(Range<Int>)
        /// The line that begins there is longer than the limit. It is skipped; this is returned once for it.
        case overlong(start: Int)
        /// There is no complete line.
        case needsMore
    }

    private let limit: Int
    /// Bytes at the start of the input that have already been searched for a line break.
    private var searched = 0
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// The next step for input that begins with `bytes`, and how many of the bytes are then consumed.
    @inline(__always)
    mutating func next(_ bytes: UnsafeBufferPointer<UInt8>) -> (step: Step, consumed: Int) {
        isSkipping ? nextBehindSkipped(bytes) : nextLine(bytes)
    }

    @inline(__always)
    private mutating func nextLine(_ bytes: UnsafeBufferPointer<UInt8>) -> (step: Step, consumed: Int) {
        guard let end = lineBreak(in: bytes) else { return searchedAll(bytes) }
        searched = 0
        let length = end > 0 && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
        guard length <= limit else { return (.overlong(start: 0), end + 1) }
        return (.line(Range(uncheckedBounds: (0, length))), end + 1)
    }

    private mutating func nextBehindSkipped(_ bytes: UnsafeBufferPointer<UInt8>) -> (step: Step, consumed: Int) {
        guard let end = lineBreak(in: bytes) else { return searchedAll(bytes) }
        searched = 0
        isSkipping = false
        let rest = nextLine(UnsafeBufferPointer(rebasing: bytes[(end + 1)...]))
        return (shift(rest.step, by: end + 1), rest.consumed + end + 1)
    }

    private mutating func searchedAll(_ bytes: UnsafeBufferPointer<UInt8>) -> (step: Step, consumed: Int) {
        searched = 0
        if isSkipping { return (.needsMore, bytes.count) }
        // One byte more than the limit may be the '\r' of the line break.
        guard bytes.count <= limit + 1 else {
            isSkipping = true
            return (.overlong(start: 0), bytes.count)
        }
        searched = bytes.count
        return (.needsMore, 0)
    }

    private func lineBreak(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress, searched < bytes.count,
            let found = memchr(base + searched, CInt(UInt8(ascii: "\n")), bytes.count - searched)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private func shift(_ step: Step, by offset: Int) -> Step {
        switch step {
        case .line(let range): .line(range.lowerBound + offset..<range.upperBound + offset)
        case .overlong(let start): .overlong(start: start + offset)
        case .needsMore: .needsMore
        }
    }
}
