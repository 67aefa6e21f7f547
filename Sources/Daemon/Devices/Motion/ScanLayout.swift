/// The position of each value in a sample of a buffer, as the kernel lays it out: the enabled elements in the order of
/// their indices, each aligned to its own size, and the whole sample to the largest of them.
struct ScanLayout: Sendable {
    private let axes: [Place]
    private let time: Place?
    /// The size of a sample in bytes.
    let size: Int

    private struct Place: Sendable {
        var offset: Int
        var type: ScanType
    }

    static let axisNames = ["in_accel_x", "in_accel_y", "in_accel_z"]
    static let timeName = "in_timestamp"

    /// Larger than any real sample.
    private static let largest = 4096

    /// - Returns: nil if an axis is missing, or the layout is not possible.
    init?(_ elements: [ScanElement]) {
        var places: [String: Place] = [:]
        var (offset, largest) = (0, 1)
        for element in elements.sorted(by: { $0.index < $1.index }) {
            let size = element.type.size
            offset = Self.aligned(offset, to: size)
            places[element.name] = Place(offset: offset, type: element.type)
            offset += size
            largest = max(largest, size)
            guard offset <= Self.largest else { return nil }
        }
        axes = Self.axisNames.compactMap { places[$0] }
        guard axes.count == 3 else { return nil }
        time = places[Self.timeName]
        size = Self.aligned(offset, to: largest)
    }

    private static func aligned(_ offset: Int, to size: Int) -> Int { (offset + size - 1) / size * size }

    /// The raw values of a sample, which must have ``size`` bytes, and its time in nanoseconds, if it has one.
    func sample(_ bytes: ArraySlice<UInt8>) -> (raw: Vector, nanoseconds: Int64?) {
        let values = axes.map { Double($0.type.value(of: bytes.dropFirst($0.offset))) }
        return (Vector(values), time.map { $0.type.value(of: bytes.dropFirst($0.offset)) })
    }
}

/// The format of a channel's value in a buffer: `[be|le]:[s|u]bits/storagebits[Xrepeat][>>shift]`
/// (Documentation/ABI/testing/sysfs-bus-iio, scan_elements/in_…_type).
struct ScanType: Sendable, Hashable {
    var isBigEndian: Bool
    var isSigned: Bool
    /// Bits of the value, 1 to 64.
    var bits: Int
    /// Bits of the storage: 8, 16, 32 or 64.
    var storageBits: Int
    /// How many such values follow each other.
    var count = 1
    /// How far the value is shifted right before the bits above it are masked.
    var shift = 0

    /// In bytes; also its alignment.
    var size: Int { storageBits / 8 * count }

    init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), let slash = text.firstIndex(of: "/"), colon < slash else {
            return nil
        }
        let value = text[text.index(after: colon)..<slash]
        var rest = text[text.index(after: slash)...]
        switch text[..<colon] {
        case "be": isBigEndian = true
        case "le": isBigEndian = false
        default: return nil
        }
        guard let sign = value.first, "su".contains(sign), let bits = Self.number(value.dropFirst()) else { return nil }
        isSigned = sign == "s"
        if let arrows = rest.range(of: ">>") {
            guard let shift = Self.number(rest[arrows.upperBound...]) else { return nil }
            self.shift = shift
            rest = rest[..<arrows.lowerBound]
        }
        if let mark = rest.firstIndex(of: "X") {
            guard let count = Self.number(rest[rest.index(after: mark)...]), (1...64).contains(count) else {
                return nil
            }
            self.count = count
            rest = rest[..<mark]
        }
        guard let storage = Self.number(rest), [8, 16, 32, 64].contains(storage) else { return nil }
        (self.bits, storageBits) = (bits, storage)
        guard bits > 0, shift + bits <= storage else { return nil }
    }

    /// Accepts only digits, and only a few.
    private static func number(_ text: Substring) -> Int? {
        guard (1...3).contains(text.count), text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }) else { return nil }
        return Int(text)
    }

    /// The first value in the bytes, which must be long enough.
    func value(of bytes: some Collection<UInt8>) -> Int64 {
        let storage = bytes.prefix(storageBits / 8)
        var word: UInt64 = 0
        if isBigEndian {
            for byte in storage { word = word << 8 | UInt64(byte) }
        } else {
            for (index, byte) in storage.enumerated() { word |= UInt64(byte) << (8 * UInt64(index)) }
        }
        // Shifted to the top and down again, which extends the sign.
        let top = (word >> UInt64(shift)) << UInt64(64 - bits)
        return isSigned ? Int64(bitPattern: top) >> Int64(64 - bits) : Int64(bitPattern: top >> UInt64(64 - bits))
    }
}

extension Substring {
    fileprivate func range(of pair: StaticString) -> Range<Index>? {
        let wanted = pair.description
        return indices.lazy.compactMap { start -> Range<Index>? in
            guard self[start...].hasPrefix(wanted) else { return nil }
            return start..<self.index(start, offsetBy: wanted.count)
        }.first
    }
}

/// A channel of a buffer that is switched on.
struct ScanElement: Sendable, Hashable {
    /// Such as `in_accel_x` or `in_timestamp`.
    var name: String
    /// Its position among the others.
    var index: Int
    var type: ScanType
}
