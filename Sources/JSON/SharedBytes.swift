/// Bytes that several values share parts of: what a client sent, kept once.
///
/// They are written by their one holder, before anybody else has them.
open class SharedBytes: @unchecked Sendable {
    // Sendable because the bytes are changed only while a single reference exists, and are constant afterwards.
    // Each is a word that is read or written at once: to check that nobody else is at it costs more than that.
    @exclusivity(unchecked) @usableFromInline final var base: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) @usableFromInline final var room: Int
    @exclusivity(unchecked) @usableFromInline final var used = 0

    /// How many bytes there is room for.
    @inlinable public final var capacity: Int { room }
    /// How many bytes are used.
    @inlinable public final var count: Int { used }

    /// Space for that many bytes, none of them used yet.
    public init(capacity: Int) {
        room = max(capacity, 64)
        base = .allocate(capacity: room)
    }

    deinit { base.deallocate() }

    /// A copy of some bytes.
    public convenience init(copying bytes: UnsafeBufferPointer<UInt8>) {
        self.init(capacity: bytes.count)
        append(bytes)
    }

    /// The bytes of a text.
    public convenience init(_ text: String) {
        self.init(capacity: text.utf8.count)
        var text = text
        text.withUTF8 { append($0) }
    }

    // MARK: Writing

    /// Makes it empty, with room for that many bytes.
    public final func reset(capacity: Int) {
        used = 0
        reserve(capacity)
    }

    /// Makes room for so many bytes in all.
    public final func reserve(_ needed: Int) {
        guard needed > capacity else { return }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: needed)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        room = needed
    }

    /// Appends bytes, for which there must be room.
    public final func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        (base + count).update(from: source, count: bytes.count)
        used += bytes.count
    }

    /// Appends at most so many bytes, for which there must be room, as many as `write` says it has written.
    package final func append(atMost capacity: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        used += write(base + used)
    }

    /// Changes the bytes at and behind `start`, which become those that `body` says are left.
    public final func rewrite<Failure: Error>(
        from start: Int,
        _ body: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        used = start + (try body(UnsafeMutableBufferPointer(start: base + start, count: count - start)))
    }

    // MARK: Reading

    /// Some of the bytes as text.
    public final func text(_ range: Range<Int>) -> String {
        withExtendedLifetime(self) { String(decoding: slice(range), as: UTF8.self) }
    }

    /// Some of the bytes. Valid while this object lives and is not written: for the compiler that is up to its last use, so
    /// one that is a variable of a function needs `withExtendedLifetime`.
    @inlinable
    public final func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}
