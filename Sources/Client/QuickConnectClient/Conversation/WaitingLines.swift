internal import DequeModule

/// The lines of waiting calls, in order, in one piece of memory.
struct WaitingLines {
    private struct Entry {
        let number: Int
        let count: Int
    }

    private var entries: Deque<Entry> = []
    private var bytes: [UInt8] = []
    /// Where the line of the first one begins.
    private var start = 0

    /// The number of the first one.
    var first: Int? { entries.first?.number }

    var count: Int { entries.count }
    var byteCount: Int { bytes.count - start }

    mutating func append(_ line: UnsafeBufferPointer<UInt8>, _ number: Int) {
        entries.append(Entry(number: number, count: line.count))
        bytes.append(contentsOf: line)
    }

    /// Removes the first one, and passes on its line.
    mutating func removeFirst(_ take: (ArraySlice<UInt8>) -> Void) {
        guard let entry = entries.popFirst() else { return }
        take(bytes[start..<(start + entry.count)])
        start += entry.count
        if entries.isEmpty {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
        } else if start > 1 << 16, start > bytes.count / 2 {
            bytes.removeFirst(start)
        } else {
            return
        }
        start = 0
    }

    /// Goes through all, in order, and removes those for which `keeps` returns false.
    mutating func filter(_ keeps: (Int, ArraySlice<UInt8>) -> Bool) {
        var kept = WaitingLines()
        while let number = first {
            removeFirst { line in
                if keeps(number, line) { line.withUnsafeBufferPointer { kept.append($0, number) } }
            }
        }
        self = kept
    }
}
