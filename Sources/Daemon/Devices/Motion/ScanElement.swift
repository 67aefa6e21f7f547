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
