internal import Glibc
internal import QuickConnect

/// Finds the lines in what a connection sends. A value without I/O: bytes in, ranges out.
struct LineFramer {
    enum Step: Equatable {
        /// The range of a line, without its line break.
        case line(Range<Int>)
        /// A line that is longer than the limit has ended; see ``takeOverlong()``.
        case overlong
        /// There is no complete line.
        case needsMore
    }

    private let limit: Int
    /// Bytes at the start of the input that have already been searched for a line break.
    private var searched = 0
    private var isSkipping = false
    private var overlong: OverlongLine?

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
        guard length <= limit else {
            overlong = OverlongLine(UnsafeBufferPointer(rebasing: bytes[..<end]))
            return (.overlong, end + 1)
        }
        return (.line(Range(uncheckedBounds: (0, length))), end + 1)
    }

    private mutating func nextBehindSkipped(_ bytes: UnsafeBufferPointer<UInt8>) -> (step: Step, consumed: Int) {
        guard let end = lineBreak(in: bytes) else { return searchedAll(bytes) }
        searched = 0
        isSkipping = false
        overlong?.add(UnsafeBufferPointer(rebasing: bytes[..<end]))
        return (.overlong, end + 1)
    }

    private mutating func searchedAll(_ bytes: UnsafeBufferPointer<UInt8>) -> (step: Step, consumed: Int) {
        searched = 0
        if isSkipping {
            overlong?.add(bytes)
            return (.needsMore, bytes.count)
        }
        // One byte more than the limit may be the '\r' of the line break.
        guard bytes.count <= limit + 1 else {
            isSkipping = true
            overlong = OverlongLine(bytes)
            return (.needsMore, bytes.count)
        }
        searched = bytes.count
        return (.needsMore, 0)
    }

    /// What is known of the line that was just told to be too long.
    mutating func takeOverlong() -> OverlongLine? {
        defer { overlong = nil }
        return overlong
    }

    private func lineBreak(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let base = bytes.baseAddress, searched < bytes.count,
            let found = memchr(base + searched, CInt(UInt8(ascii: "\n")), bytes.count - searched)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }
}

/// The bytes of a connection that wait: the beginning of a line, or lines whose turn has not come. None are kept by one that
/// has nothing.
///
/// It grows by realloc(3), which moves no large block: arrays that double leave holes between them that fit nobody.
struct InputBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>?
    /// Where what is left begins, and where it ends.
    private var (start, end) = (0, 0)
    /// How much memory it has, in bytes.
    private(set) var capacity = 0

    private static let least = 256

    init() {}

    deinit { free(base) }

    var count: Int { end - start }
    var isEmpty: Bool { end == start }

    /// The bytes, until they are changed.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base.map { $0 + start }, count: count) }

    mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
        guard let source = more.baseAddress, !more.isEmpty else { return }
        if end + more.count > capacity { makeRoom(for: more.count) }
        guard let base else { return }
        memcpy(base + end, source, more.count)
        end += more.count
    }

    /// Removes the first so many bytes.
    mutating func drop(_ count: Int) {
        start += count
        if isEmpty {
            removeAll()
        } else if capacity > LoopResources.longLine, capacity > 4 * self.count {
            // The memory of a long line must not be kept for the few bytes after it.
            moveToFront()
            resize(to: max(self.count, Self.least))
        }
    }

    mutating func removeAll() {
        free(base)
        (base, start, end, capacity) = (nil, 0, 0, 0)
    }

    private mutating func makeRoom(for more: Int) {
        moveToFront()
        guard end + more > capacity else { return }
        resize(to: max(2 * capacity, end + more, Self.least))
    }

    private mutating func moveToFront() {
        guard start > 0, let base else { return }
        memmove(base, base + start, count)
        (start, end) = (0, count)
    }

    private mutating func resize(to size: Int) {
        // As for all of Swift's memory: without it the process cannot go on.
        guard let new = realloc(base, size) else { abort() }
        (base, capacity) = (new.assumingMemoryBound(to: UInt8.self), size)
    }
}
