import Fairness
import JSON
import QuickConnect

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
