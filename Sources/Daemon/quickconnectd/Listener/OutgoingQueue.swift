import Concurrency
import DequeModule
import JSON
import QuickConnect

/// A connection's output that the kernel has not taken yet. Large texts are encoded piece by piece as the client
/// reads, which spreads the time and bounds the memory.
struct OutgoingQueue {
    private enum Piece {
        case bytes([UInt8])
        case text(JSONText, OutputBuffer.Encoding, sent: Int)
    }

    private var pieces = Deque<Piece>()
    /// How much of the first piece, which is of bytes, has been sent.
    private var sent = 0
    /// About how many bytes wait.
    private(set) var count = 0
    private static let textPiece = 64 << 10
    private static let bytesPiece = 16 << 10

    var isEmpty: Bool { pieces.isEmpty }

    /// - Parameter skipped: how many bytes at the beginning have been sent already.
    mutating func append(_ buffer: OutputBuffer, skipping skipped: Int = 0) {
        buffer.withBytes { bytes in
            var start = skipped
            for attachment in buffer.attachments {
                append(bytes[start..<attachment.position])
                start = attachment.position
                pieces.append(.text(attachment.text, attachment.encoding, sent: 0))
                count += Self.size(attachment.text.count, attachment.encoding)
            }
            append(bytes[start...])
        }
    }

    private mutating func append(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        // Many short lines are one write.
        if case .bytes(var last) = pieces.last, last.count + bytes.count <= Self.bytesPiece {
            pieces.removeLast()
            last.append(contentsOf: bytes)
            pieces.append(.bytes(last))
        } else {
            pieces.append(.bytes(Array(bytes)))
        }
    }

    /// About how many bytes a text is when it is sent.
    private static func size(_ count: Int, _ encoding: OutputBuffer.Encoding) -> Int {
        encoding == .percent ? 2 * count : count
    }

    /// Gives `send` the next bytes.
    /// - Parameter send: returns how many of them have been sent.
    /// - Returns: whether that was all of them, and there are more.
    mutating func sendNext(_ send: (UnsafeRawBufferPointer) -> Int) -> Bool {
        encodeFirst()
        guard case .bytes(let bytes) = pieces.first else {
            // An idle connection keeps no memory for it.
            self = OutgoingQueue()
            return false
        }
        let count = bytes.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
        self.count -= count
        sent += count
        guard sent == bytes.count else { return false }
        pieces.removeFirst()
        sent = 0
        if pieces.isEmpty { self = OutgoingQueue() }
        return !pieces.isEmpty
    }

    /// Makes bytes of the next part of a text.
    private mutating func encodeFirst() {
        guard case .text(let text, let encoding, let done) = pieces.first else { return }
        pieces.removeFirst()
        let end = min(done + Self.textPiece, text.count)
        let buffer = OutputBuffer(capacity: Self.textPiece)
        text.withBytes { buffer.append(UnsafeBufferPointer(rebasing: $0[done..<end]), as: encoding) }
        if end < text.count { pieces.prepend(.text(text, encoding, sent: end)) }
        pieces.prepend(.bytes(buffer.copy))
        count += buffer.count - Self.size(end - done, encoding)
    }
}

/// The calls to a client's handlers that wait until it has read those before them. Their callers take turns and have
/// shares, so that nobody waits for the long texts of somebody else.
final class OutgoingCalls {
    private struct Waiting {
        let number: Int
        let line: OutputBuffer
        let owner: Owner
    }

    private var ring = Ring<Owner, Waiting>(newcomersFirst: true)
    /// Whose calls wait, by their numbers.
    private var owners: [Int: Owner] = [:]
    private var bytes: Budget<Owner>
    /// How many bytes are kept for them besides their texts, which their callers' waiting calls have anyway.
    private(set) var copied = 0

    /// - Parameter limit: how many bytes may wait.
    init(limit: Int) { bytes = Budget(limit: limit) }

    var isEmpty: Bool { ring.isEmpty }

    /// Lets a call wait.
    /// - Returns: false if its caller has its share of what may wait.
    func append(_ line: OutputBuffer, _ number: Int, of owner: Owner, _ share: Share) -> Bool {
        guard bytes.take(Self.memory(of: line), for: owner, share) else { return false }
        owners[number] = owner
        keep(line, number, of: owner)
        return true
    }

    /// Lets a line wait behind its call.
    /// - Returns: false if that call does not wait any more.
    func append(_ line: OutputBuffer, behindCall number: Int) -> Bool {
        guard let owner = owners[number] else { return false }
        bytes.add(Self.memory(of: line), to: owner)
        keep(line, number, of: owner)
        return true
    }

    /// The line whose turn it is, which waits no more.
    func next() -> OutputBuffer? {
        guard let next = ring.next() else { return nil }
        owners[next.number] = nil
        copied -= next.line.capacity
        bytes.add(-Self.memory(of: next.line), to: next.owner)
        return next.line
    }

    private func keep(_ line: OutputBuffer, _ number: Int, of owner: Owner) {
        ring.append(Waiting(number: number, line: line, owner: owner), of: owner)
        copied += line.capacity
    }

    private static func memory(of line: OutputBuffer) -> Int { 256 + line.capacity + line.countWithAttachments }
}

/// The sensor values that wait for a slow client: the newest of each sensor, and how many were dropped.
struct SensorBacklog {
    private var newest: [ByteName: (event: Event, form: WireForm)] = [:]
    private var missed: [ByteName: Int] = [:]

    var isEmpty: Bool { newest.isEmpty }

    mutating func add(_ event: Event, form: WireForm) {
        let name = ByteName(event.name)
        if newest.updateValue((event, form), forKey: name) != nil { missed[name, default: 0] += 1 }
    }

    /// The events to send now that the client reads again, and, if it wants to know (`droppedForm`), how many it
    /// missed.
    mutating func take(droppedForm: WireForm?) -> [(event: Event, form: WireForm)] {
        var events = Array(newest.values)
        if let droppedForm {
            events += missed.map { name, count in
                let value = DaemonEvents.loss(of: name.text, count)
                return (Event(DaemonEvents.dropped, value, kind: .message), droppedForm)
            }
        }
        self = SensorBacklog()
        return events
    }
}
