/// Elements by their names, compared byte for byte. Made once, then only read; the time of a look-up does not depend on
/// their number.
struct NameTable<Element: Sendable>: Sendable {
    private struct Slot: Sendable {
        var hash: UInt64
        /// The index in `elements`; negative if the slot is empty.
        var index: Int32
        /// The range of the name in `names`.
        var name: Range<Int32>
    }

    private var slots: [Slot] = []
    /// All names, concatenated.
    private var names: [UInt8] = []
    private(set) var elements: [Element] = []
    private var mask = 0
    /// A bit for each length that occurs; lengths of 63 bytes and more share the last bit.
    private var lengths: UInt64 = 0

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
        lengths |= Self.bit(ofLength: name.count)
    }

    subscript(name: UnsafeBufferPointer<UInt8>) -> Element? { index(of: name).map { elements[$0] } }

    /// The index in ``elements`` of the element with this name.
    func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        // No name has this length, so there is nothing to look up.
        guard lengths & Self.bit(ofLength: name.count) != 0 else { return nil }
        let hash = Self.hash(name)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let candidate = slots[slot]
            guard candidate.index >= 0 else { return nil }
            if candidate.hash == hash, isSame(candidate.name, name) {
                return Int(candidate.index)
            }
            slot = (slot + 1) & mask
        }
    }

    subscript(name: String) -> Element? {
        var name = name
        return name.withUTF8 { self[$0] }
    }

    private static func bit(ofLength count: Int) -> UInt64 { 1 << UInt64(min(count, 63)) }

    private func isSame(_ range: Range<Int32>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard range.count == name.count else { return false }
        return names.withUnsafeBufferPointer { names in
            var index = Int(range.lowerBound)
            for byte in name {
                if names[index] != byte { return false }
                index += 1
            }
            return true
        }
    }

    /// Hashes eight bytes at a time. The names are the owner's, so no attacker can make them collide.
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(bytes)
        var hash = UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while bytes.count - index >= 8 {
            hash = mixed(hash, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        return mixed(hash, rest(of: bytes, from: index))
    }

    /// The last bytes, fewer than eight, in one word.
    private static func rest(of bytes: UnsafeRawBufferPointer, from index: Int) -> UInt64 {
        let count = bytes.count - index
        if count >= 4 {
            let first = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
            // With fewer than eight bytes, this word overlaps the first four.
            let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
            return UInt64(first) | UInt64(last) << 32
        }
        var word: UInt64 = 0
        for byte in bytes[index...] { word = word << 8 | UInt64(byte) }
        return word
    }

    private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        return product ^ product >> 32
    }
}
