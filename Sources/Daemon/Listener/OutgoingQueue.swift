import DequeModule
import JSON
import NIOCore

/// A connection's output that the transport has not taken yet. Large texts are encoded piece by piece as the client
/// reads, which spreads the time and bounds the memory.
struct OutgoingQueue {
    private enum Piece {
        case bytes(ByteBuffer)
        case text(JSONText, OutputBuffer.Encoding, sent: Int)
    }

    private var pieces = Deque<Piece>()
    /// About how many bytes wait.
    private(set) var count = 0
    private static let textPiece = 64 << 10
    private static let bytesPiece = 256 << 10

    var isEmpty: Bool { pieces.isEmpty }

    mutating func append(_ buffer: OutputBuffer, _ allocator: ByteBufferAllocator) {
        buffer.withBytes { bytes in
            var start = 0
            for attachment in buffer.attachments {
                append(bytes[start..<attachment.position], allocator)
                start = attachment.position
                pieces.append(.text(attachment.text, attachment.encoding, sent: 0))
                count += attachment.text.count * (attachment.encoding == .percent ? 2 : 1)
            }
            append(bytes[start...], allocator)
        }
    }

    private mutating func append(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ allocator: ByteBufferAllocator) {
        guard !bytes.isEmpty else { return }
        pieces.append(.bytes(allocator.buffer(bytes: UnsafeBufferPointer(rebasing: bytes))))
        count += bytes.count
    }

    /// The next bytes to send.
    mutating func next(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
        guard let first = pieces.first else {
            // An idle connection keeps no memory for it.
            self = OutgoingQueue()
            return nil
        }
        switch first {
        case .bytes(var bytes):
            pieces.removeFirst()
            guard bytes.readableBytes > Self.bytesPiece, let part = bytes.readSlice(length: Self.bytesPiece) else {
                count -= bytes.readableBytes
                return bytes
            }
            pieces.prepend(.bytes(bytes))
            count -= part.readableBytes
            return part
        case .text(let text, let encoding, let sent):
            pieces.removeFirst()
            let end = min(sent + Self.textPiece, text.count)
            let buffer = OutputBuffer(capacity: Self.textPiece)
            text.withBytes { buffer.append(UnsafeBufferPointer(rebasing: $0[sent..<end]), as: encoding) }
            if end < text.count { pieces.prepend(.text(text, encoding, sent: end)) }
            count -= (end - sent) * (encoding == .percent ? 2 : 1)
            return buffer.withBytes { allocator.buffer(bytes: $0) }
        }
    }
}
