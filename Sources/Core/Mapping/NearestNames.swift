internal import JSON

/// Finds names similar to a mistyped one.
public enum NearestNames {
    /// At most three of the candidates, nearest first: they differ by added, missing, changed or swapped letters, at
    /// most a third of the name's letters but at least one, ignoring case. It examines every candidate.
    /// - Parameter limit: by no more letters than that, however long the name is.
    public static func find(
        _ name: String,
        among candidates: some Sequence<String>,
        within limit: Int = .max
    ) -> [String] {
        guard name.utf8.count <= longest else { return [] }
        let wanted = Letters(name)
        let allowed = min(limit, max(1, wanted.count / 3))
        let near = candidates.compactMap { candidate -> (distance: Int, name: String)? in
            guard candidate.utf8.count <= 4 * longest else { return nil }
            let letters = Letters(candidate)
            guard abs(letters.count - wanted.count) <= allowed else { return nil }
            let distance = wanted.distance(to: letters)
            return distance <= allowed ? (distance, candidate) : nil
        }
        guard near.count > 1 else { return near.map(\.name) }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// Longer names are not compared.
    static let longest = 64

    /// `, did you mean 'loc'?`, or an empty text if no name is near.
    public static func question(
        _ name: String,
        among candidates: some Sequence<String>,
        within limit: Int = .max
    ) -> String {
        question(find(name, among: candidates, within: limit))
    }

    /// `, did you mean 'loc'?`, or an empty text if there is no name.
    static func question(_ near: [String]) -> String {
        near.isEmpty ? "" : ", did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
    }
}

extension CommandError {
    /// The same error, with the names that may have been meant.
    /// - Parameter instead: what is asked if there are such names; a line that allowed the mistyped one would not help.
    func asking(_ near: [String], instead: String? = nil) -> CommandError {
        var error = self
        if let instead {
            guard !near.isEmpty else { return self }
            error.message = instead
            error.details["allow"] = nil
        }
        error.message += NearestNames.question(near)
        error.details["nearest"] = .array(near.map(JSONValue.string))
        return error
    }
}

/// A name's letters in lower case.
private struct Letters {
    private let scalars: [UInt32]

    init(_ name: String) {
        // Nearly every name is ASCII.
        if name.utf8.allSatisfy({ $0 < 0x80 }) {
            scalars = name.utf8.map { UInt32($0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0) }
        } else {
            scalars = name.lowercased().unicodeScalars.map(\.value)
        }
    }

    var count: Int { scalars.count }

    /// The optimal string alignment distance: insertions, deletions, changes, swaps of neighbours.
    func distance(to other: Letters) -> Int {
        let (a, b) = (scalars, other.scalars)
        let width = b.count + 1
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: 3 * width) { cells in
            var (beforeLast, last, row) = (0, width, 2 * width)
            for j in 0..<width { (cells[j], cells[last + j]) = (0, Int32(j)) }
            for i in a.indices {
                cells[row] = Int32(i + 1)
                for j in b.indices {
                    let change = cells[last + j] + (a[i] == b[j] ? 0 : 1)
                    var best = min(cells[last + j + 1] + 1, cells[row + j] + 1, change)
                    if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                        best = min(best, cells[beforeLast + j - 1] + 1)
                    }
                    cells[row + j + 1] = best
                }
                (beforeLast, last, row) = (last, row, beforeLast)
            }
            return Int(cells[last + b.count])
        }
    }
}

/// An index that finds similar names without examining all of them: each name is stored under itself and under each
/// text that remains when one letter is deleted (symmetric deletion), ignoring case. It finds names with one letter
/// added, missing or changed, or two neighbours swapped, and many with two such differences.
struct NameIndex: Sendable {
    /// Half of a hash and, in the low half, the number of a name, counted from 1; 0 for an empty slot.
    private var slots: [UInt64] = []
    private var mask = 0
    private var names: [String] = []
    /// Thousands of names may differ in one letter only.
    private static let maxCandidates = 8

    init() {}

    init(_ names: [String]) {
        self.names = names
        var size = 8
        while size < 2 * names.reduce(0, { $0 + $1.utf8.count + 1 }) { size *= 2 }
        slots = Array(repeating: 0, count: size)
        mask = size - 1
        for (index, name) in names.enumerated() where name.utf8.count <= NearestNames.longest {
            Self.forEachRest(of: name) { add($0, number: index + 1) }
        }
    }

    private mutating func add(_ hash: UInt64, number: Int) {
        var slot = Int(truncatingIfNeeded: hash) & mask
        var others = 0
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash >> 32 { others += 1 }
            if others == Self.maxCandidates { return }
            slot = (slot + 1) & mask
        }
        slots[slot] = (hash >> 32) << 32 | UInt64(number)
    }

    /// At most three names, nearest first.
    func nearest(_ name: String) -> [String] {
        guard !slots.isEmpty, name.utf8.count <= NearestNames.longest else { return [] }
        var found: [Int] = []
        Self.forEachRest(of: name) { hash in
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0, found.count < Self.maxCandidates {
                let number = Int(slots[slot] & 0xFFFF_FFFF)
                if slots[slot] >> 32 == hash >> 32, !found.contains(number) { found.append(number) }
                slot = (slot + 1) & mask
            }
        }
        return found.isEmpty ? [] : NearestNames.find(name, among: found.map { names[$0 - 1] })
    }

    /// The hashes of the name and of the name without each one of its bytes, in lower case.
    private static func forEachRest(of name: String, _ body: (UInt64) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: NearestNames.longest) { bytes in
            let count = name.utf8.count
            for (index, byte) in name.utf8.enumerated() {
                bytes[index] = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            }
            let letters = UnsafeBufferPointer(rebasing: bytes[..<count])
            body(hash(letters, without: -1))
            for index in 0..<count where index == 0 || letters[index] != letters[index - 1] {
                body(hash(letters, without: index))
            }
        }
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>, without left: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in bytes.indices where index != left { hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3 }
        return hash ^ hash >> 29
    }
}
