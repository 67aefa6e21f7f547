/// A buffer for lines that are being written. Grows as needed. For use by one thread.
///
/// A large text is not copied but attached at its position; the sender of the lines encodes it piece by piece.
public final class OutputBuffer {
    /// How the bytes of a text are written on a line.
    public enum Encoding: Sendable {
        /// Unchanged.
        case plain
        /// As `encodeURIComponent` writes them.
        case percent
    }

    /// A large text that follows the first `position` bytes.
    public struct Attachment: Sendable {
        /// Where the text goes, in bytes from the start of the buffer.
        public let position: Int
        /// The text.
        public let text: JSONText
        /// How it is encoded.
        public let encoding: Encoding
    }

    /// Texts longer than this are attached.
    public static let largeText = 8 << 10
    /// The most memory, in bytes, that an emptied buffer keeps.
    private static let keptCapacity = 256 << 10

    /// The memory and the position in it. It is behind a pointer because Swift would otherwise check every append for
    /// exclusive access, which costs more than the append.
    @usableFromInline struct State {
        @usableFromInline var base: UnsafeMutablePointer<UInt8>
        @usableFromInline var count = 0
        @usableFromInline var capacity: Int
    }

    /// Large texts that are encoded when they are sent, in the order of their positions.
    @usableFromInline let state: UnsafeMutablePointer<State>
    public private(set) var attachments: [Attachment] = []

    /// An empty buffer with room for that many bytes.
    public init(capacity: Int = 1024) {
        state = .allocate(capacity: 1)
        state.initialize(to: State(base: .allocate(capacity: capacity), capacity: capacity))
    }

    deinit {
        state.pointee.base.deallocate()
        state.deallocate()
    }

    /// How many bytes there are, without the attachments.
    public var count: Int { state.pointee.count }

    /// How many bytes there are, with the attachments, which may be shared by several buffers.
    public var countWithAttachments: Int { attachments.reduce(count) { $0 + $1.text.count } }

    /// How many bytes it has memory for.
    package var capacity: Int { state.pointee.capacity }

    /// Whether nothing is in it.
    public var isEmpty: Bool { count == 0 && attachments.isEmpty }

    /// Gives `body` the bytes, without the attachments. They do not move while `body` runs.
    public func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        // The pointer alone does not keep the buffer alive: it may be released after its last use.
        withExtendedLifetime(self) {
            body(UnsafeBufferPointer(start: state.pointee.base, count: state.pointee.count))
        }
    }

    /// A copy of the bytes, without the attachments.
    public var copy: [UInt8] { withBytes { Array($0) } }

    /// The bytes as text.
    public var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Removes everything, and frees memory beyond the kept capacity.
    public func removeAll() {
        state.pointee.count = 0
        if !attachments.isEmpty { attachments = [] }
        guard state.pointee.capacity > Self.keptCapacity else { return }
        state.pointee.base.deallocate()
        state.pointee = State(base: .allocate(capacity: 1024), capacity: 1024)
    }

    /// The contents of a buffer, to be handed to another thread.
    public struct Contents: Sendable {
        /// The bytes between the attachments.
        public let bytes: [UInt8]
        /// The large texts, in the order of their positions.
        public let attachments: [Attachment]
    }

    /// Takes the contents out of the buffer, which is then empty.
    public func take() -> Contents {
        defer { removeAll() }
        return Contents(bytes: copy, attachments: attachments)
    }

    /// Appends what another buffer held.
    public func append(_ contents: Contents) {
        for attachment in contents.attachments {
            attachments.append(
                Attachment(position: count + attachment.position, text: attachment.text, encoding: attachment.encoding)
            )
        }
        append(contents.bytes)
    }

    /// Everything in one piece, with the attachments in their places.
    public func flattened() -> [UInt8] {
        let whole = OutputBuffer(capacity: count)
        withBytes { bytes in
            var start = 0
            for attachment in attachments {
                whole.append(UnsafeBufferPointer(rebasing: bytes[start..<attachment.position]))
                start = attachment.position
                attachment.text.withBytes { whole.append($0, as: attachment.encoding) }
            }
            whole.append(UnsafeBufferPointer(rebasing: bytes[start...]))
        }
        return whole.copy
    }

    // MARK: Writing

    /// The place for the next bytes, with room for that many.
    @inlinable @inline(__always)
    func room(_ extra: Int) -> UnsafeMutablePointer<UInt8> {
        if state.pointee.count + extra > state.pointee.capacity { grow(extra) }
        return state.pointee.base + state.pointee.count
    }

    @usableFromInline @inline(never)
    func grow(_ extra: Int) {
        let larger = max(state.pointee.capacity * 2, count + extra)
        let new = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        new.update(from: state.pointee.base, count: count)
        state.pointee.base.deallocate()
        state.pointee.base = new
        state.pointee.capacity = larger
    }

    /// Appends a byte.
    @inlinable
    public func append(_ byte: UInt8) {
        room(1).pointee = byte
        state.pointee.count += 1
    }

    /// Appends a string literal.
    @inlinable @inline(__always)
    public func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        room(length).update(from: text.utf8Start, count: length)
        state.pointee.count += length
    }

    /// Appends bytes.
    @inlinable
    public func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        room(bytes.count).update(from: source, count: bytes.count)
        state.pointee.count += bytes.count
    }

    /// Appends bytes.
    public func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    /// Appends a text as UTF-8.
    // A literal should select the overload for string literals.
    @_disfavoredOverload
    public func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    /// Appends bytes in an encoding.
    public func append(_ bytes: UnsafeBufferPointer<UInt8>, as encoding: Encoding) {
        switch encoding {
        case .plain: append(bytes)
        case .percent: appendPercentEncoded(bytes)
        }
    }

    /// Appends a text, or attaches it if it is large.
    public func append(_ text: JSONText, as encoding: Encoding) {
        if text.count > Self.largeText {
            attachments.append(Attachment(position: count, text: text, encoding: encoding))
        } else {
            text.withBytes { append($0, as: encoding) }
        }
    }

    /// Appends bytes as `encodeURIComponent` writes them.
    public func appendPercentEncoded(_ bytes: UnsafeBufferPointer<UInt8>) {
        let start = room(3 * bytes.count)
        var next = start
        for byte in bytes {
            if URIComponent.keeps(byte) {
                next.pointee = byte
                next += 1
            } else {
                next[0] = UInt8(ascii: "%")
                next[1] = upperHexadecimalDigit(byte >> 4)
                next[2] = upperHexadecimalDigit(byte & 15)
                next += 3
            }
        }
        state.pointee.count += next - start
    }
}

/// The characters of `encodeURIComponent` (ECMA-262).
public enum URIComponent {
    /// Whether a byte stays unchanged: A-Z a-z 0-9 - _ . ! ~ * ' ( )
    @inlinable
    public static func keeps(_ byte: UInt8) -> Bool {
        // Two words of bits, for the ASCII characters below and above 64.
        let low: UInt64 = 0x03FF_6782_0000_0000
        let high: UInt64 = 0x47FF_FFFE_87FF_FFFE
        guard byte < 128 else { return false }
        return (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
    }
}
