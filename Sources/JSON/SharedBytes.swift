/// Bytes that several values share parts of: what a client sent, kept once, in one allocation.
///
/// They are written by their one holder, before anybody else has them, which ``reset(capacity:)`` makes sure of.
public struct SharedBytes: @unchecked Sendable {
    // Sendable because the bytes are changed only while a single reference exists, and are constant afterwards.
    @usableFromInline var buffer: ManagedBuffer<Int, UInt8>

    /// Space for that many bytes, none of them used yet.
    public init(capacity: Int) {
        buffer = ManagedBuffer<Int, UInt8>.create(minimumCapacity: max(capacity, 64)) { _ in 0 }
    }

    /// A copy of some bytes.
    public init(copying bytes: UnsafeBufferPointer<UInt8>) {
        self.init(capacity: bytes.count)
        append(bytes)
    }

    public init(_ text: String) {
        var text = text
        self = text.withUTF8 { SharedBytes(copying: $0) }
    }

    /// How many bytes are used.
    @inlinable
    public var count: Int { buffer.header }

    /// Makes it empty, with room for that many bytes: the same memory where nobody else has it, else new one.
    public mutating func reset(capacity: Int) {
        if isKnownUniquelyReferenced(&buffer), buffer.capacity >= capacity {
            buffer.header = 0
        } else {
            self = SharedBytes(capacity: capacity)
        }
    }

    /// Appends bytes, for which there must be room.
    @inlinable
    public mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        buffer.withUnsafeMutablePointers { count, base in
            (base + count.pointee).update(from: source, count: bytes.count)
            count.pointee += bytes.count
        }
    }

    /// Changes the bytes at and behind `start`, which become those that `body` says are left.
    public mutating func rewrite<Failure: Error>(
        from start: Int,
        _ body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        try buffer.withUnsafeMutablePointers { count, base throws(Failure) in
            count.pointee =
                start + (try body(UnsafeMutableBufferPointer(start: base + start, count: count.pointee - start)))
        }
    }

    /// Appends all that another one has, for which there must be room.
    public mutating func append(_ other: SharedBytes) {
        // Where `other` is replaced next, it may be let go of as soon as its pointer is known.
        withExtendedLifetime(other.buffer) { append(other.slice(0..<other.count)) }
    }

    /// Appends at most so many bytes, for which there must be room, as many as `write` says it has written.
    @inlinable
    public mutating func append(atMost capacity: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        buffer.withUnsafeMutablePointers { count, base in count.pointee += write(base + count.pointee) }
    }

    /// Some of the bytes as text.
    public func text(_ range: Range<Int>) -> String {
        withExtendedLifetime(buffer) { String(decoding: slice(range), as: UTF8.self) }
    }

    /// Some of the bytes. Valid while this value, or a copy of it, lives: for the compiler that is up to its last use, so
    /// one that is a variable of a function needs `withExtendedLifetime`.
    @inlinable
    public func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        buffer.withUnsafeMutablePointerToElements {
            UnsafeBufferPointer(start: $0 + range.lowerBound, count: range.count)
        }
    }
}
