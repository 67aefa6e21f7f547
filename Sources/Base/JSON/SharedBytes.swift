/// Bytes that several values share: what a client sent, stored once.
///
/// Its only holder writes them, before anybody else gets a reference.
open class SharedBytes: @unchecked Sendable {
    // Sendable because the bytes change only while a single reference exists, and are constant afterwards. Each of
    // these is one word: checking for exclusive access would cost more than reading or writing it.
    @exclusivity(unchecked) @usableFromInline final var base: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) @usableFromInline final var room: Int
    @exclusivity(unchecked) @usableFromInline final var used = 0

    /// How many bytes there is room for.
    @inlinable public final var capacity: Int { room }
    /// How many bytes are in use.
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

    /// Empties it, with room for that many bytes.
    public final func reset(capacity: Int) {
        used = 0
        reserve(capacity)
    }

    /// Makes room for that many bytes in all.
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

    /// Appends the bytes that `write` writes, at most `capacity`. There must be room for them. `write` returns how many
    /// it has written.
    package final func append(atMost capacity: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
        used += write(base + used)
    }

    /// Changes the bytes from `start` on. `body` returns how many of them are left.
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

    /// Some of the bytes. Valid while this object lives and is not written to. The compiler may release an object after
    /// its last use, so a local variable needs `withExtendedLifetime`.
    @inlinable
    public final func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}
