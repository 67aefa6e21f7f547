internal import Glibc

/// Splits the pieces that a socket delivers into lines. All that reads lines from a client's or a child's socket uses this.
///
/// A value without input or output. Its time is linear in the bytes, however they are divided, and it stores only the
/// beginning of an incomplete line.
package struct LineSplitter: Sendable {
    /// What was found.
    package enum Line {
        /// A line without its line break. It may be empty.
        case line(UnsafeBufferPointer<UInt8>)
        /// The beginning of a line that is longer than the limit. The rest is skipped; this is reported once for each
        /// such line.
        case overlong(UnsafeBufferPointer<UInt8>)
    }

    private let limit: Int
    private var rest: [UInt8] = []
    private var isSkipping = false

    /// - Parameter limit: the longest line, in bytes without its line break.
    package init(limit: Int = .max) { self.limit = limit }

    /// How many bytes of an incomplete line are stored.
    package var pendingCount: Int { rest.count }

    /// Drops the beginning of an incomplete line, when its connection has ended.
    package mutating func clear() {
        rest = []
        isSkipping = false
    }

    /// Passes on the lines that end in a piece, in order. The argument of `take` is valid only during the call.
    package mutating func split(_ piece: UnsafeBufferPointer<UInt8>, _ take: (Line) -> Void) {
        var piece = piece
        while let end = Self.lineBreak(in: piece) {
            finish(UnsafeBufferPointer(rebasing: piece[..<end]), take)
            piece = UnsafeBufferPointer(rebasing: piece[(end + 1)...])
        }
        keep(piece, take)
    }

    private mutating func finish(_ end: UnsafeBufferPointer<UInt8>, _ take: (Line) -> Void) {
        if isSkipping {
            isSkipping = false
        } else if rest.isEmpty {
            give(end, take)
        } else {
            var whole: [UInt8] = []
            swap(&whole, &rest)
            whole.append(contentsOf: end)
            whole.withUnsafeBufferPointer { give($0, take) }
        }
    }

    private func give(_ bytes: UnsafeBufferPointer<UInt8>, _ take: (Line) -> Void) {
        let line = bytes.last == UInt8(ascii: "\r") ? UnsafeBufferPointer(rebasing: bytes.dropLast()) : bytes
        take(line.count <= limit ? .line(line) : .overlong(line))
    }

    private mutating func keep(_ piece: UnsafeBufferPointer<UInt8>, _ take: (Line) -> Void) {
        guard !isSkipping, !piece.isEmpty else { return }
        rest.append(contentsOf: piece)
        // One byte more than the limit may be the '\r' of the line break.
        guard rest.count - 1 > limit else { return }
        rest.withUnsafeBufferPointer { take(.overlong($0)) }
        rest = []
        isSkipping = true
    }

    private static func lineBreak(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress, let found = memchr(base, CInt(UInt8(ascii: "\n")), bytes.count)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}
