/// The header of a client's frame, read byte by byte (RFC 6455, section 5.2).
struct FrameHeader {
    private var bytes: InlineArray<14, UInt8> = .init(repeating: 0)
    private var count = 0

    /// At most 14 bytes; the second byte decides.
    private var size: Int {
        guard count >= 2 else { return 2 }
        switch bytes[1] & 0x7F {
        case 126: return 2 + 2 + 4
        case 127: return 2 + 8 + 4
        default: return 2 + 4
        }
    }

    var isFinal: Bool { bytes[0] & 0x80 != 0 }
    var hasReservedBits: Bool { bytes[0] & 0x70 != 0 }
    var opcode: Opcode? { Opcode(rawValue: bytes[0] & 0x0F) }
    var isMasked: Bool { bytes[1] & 0x80 != 0 }
    var hasLongLength: Bool { bytes[1] & 0x7F > 125 }

    /// Takes bytes until the header is complete.
    /// - Parameter check: called as soon as the first two bytes are there, because they may already be invalid.
    /// - Returns: whether it is complete.
    mutating func take(
        _ rest: inout Slice<UnsafeRawBufferPointer>,
        check: (FrameHeader) -> Bool
    ) -> Bool {
        while count < size, let byte = rest.popFirst() {
            bytes[count] = byte
            count += 1
            if count == 2, !check(self) { return false }
        }
        return count >= 2 && count == size
    }

    /// How many bytes follow; nil if the length is invalid or longer encoded than necessary.
    var length: UInt64? {
        switch bytes[1] & 0x7F {
        case 126: number(of: 2).flatMap { $0 > 125 ? $0 : nil }
        case 127: number(of: 8).flatMap { $0 > 0xFFFF && $0 >> 63 == 0 ? $0 : nil }
        case let short: UInt64(short)
        }
    }

    private func number(of size: Int) -> UInt64? {
        var number: UInt64 = 0
        for index in 2..<(2 + size) { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    var mask: Mask {
        Mask(bytes[count - 4], bytes[count - 3], bytes[count - 2], bytes[count - 1])
    }
}

/// The four bytes with which a client's payload is masked.
struct Mask {
    /// The four bytes twice, with the next one at the lowest address.
    private var bytes: UInt64

    init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        let four = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
        bytes = UInt64(four) << 32 | UInt64(four)
    }

    /// Unmasks a piece of the payload; the following piece continues it.
    mutating func remove(from piece: UnsafeMutableRawBufferPointer) {
        var index = 0
        while piece.count - index >= 8 {
            let word = piece.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            piece.storeBytes(of: word ^ UInt64(littleEndian: bytes), toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < piece.count {
            piece[index] ^= UInt8(truncatingIfNeeded: bytes)
            bytes = bytes >> 8 | bytes << 56
            index += 1
        }
    }
}
