/// Things by their names, compared byte for byte. Made once, then only read; a look-up costs the same however many there
/// are.
struct NameTable<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var hash: UInt64
        /// Where in `elements`; negative where the slot is empty.
        var index: Int32
        /// Where the name is in `names`.
        var name: Range<Int32>
    }

    private var slots: [Slot] = []
    /// All names, one behind the other.
    private var names: [UInt8] = []
    private(set) var elements: [Element] = []
    private var mask = 0
    private var longest = 0

    init() {}

    init(_ pairs: some Collection<(name: String, element: Element)>) {
        var size = 8
        while size < 2 * pairs.count { size *= 2 }
        mask = size - 1
        slots = Array(repeating: Slot(hash: 0, index: -1, name: 0..<0), count: size)
        for (name, element) in pairs { insert(Array(name.utf8), element) }
    }

    private mutating func insert(_ name: [UInt8], _ element: Element) {
        let hash = name.withUnsafeBufferPointer { Self.hash($0) }
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot].index >= 0 { slot = (slot + 1) & mask }
        let start = Int32(names.count)
        slots[slot] = Slot(hash: hash, index: Int32(elements.count), name: start..<(start + Int32(name.count)))
        names += name
        elements.append(element)
        longest = max(longest, name.count)
    }

    subscript(name: UnsafeBufferPointer<UInt8>) -> Element? {
        // What is longer than every name need not be looked at.
        guard !elements.isEmpty, name.count <= longest else { return nil }
        let hash = Self.hash(name)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let candidate = slots[slot]
            guard candidate.index >= 0 else { return nil }
            if candidate.hash == hash, isSame(candidate.name, name) {
                return elements[Int(candidate.index)]
            }
            slot = (slot + 1) & mask
        }
    }

    subscript(name: String) -> Element? {
        var name = name
        return name.withUTF8 { self[$0] }
    }

    private func isSame(_ range: Range<Int32>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard range.count == name.count else { return false }
        var index = Int(range.lowerBound)
        for byte in name {
            if names[index] != byte { return false }
            index += 1
        }
        return true
    }

    /// FNV-1a. The names are the owner's, so nobody can choose them to collide.
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash ^ hash >> 32
    }
}
