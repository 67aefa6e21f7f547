import Testing

@testable import IIOMotion

/// A number generator whose numbers are the same in each run (SplitMix64).
struct Numbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }
}

@Suite("The types of scan elements, as the kernel's ABI describes them") struct ScanTypeTests {
    @Test func `each part is read`() throws {
        let type = try #require(ScanType("le:s12/16>>4"))
        #expect(!type.isBigEndian && type.isSigned && type.bits == 12 && type.storageBits == 16 && type.shift == 4)
        let other = try #require(ScanType("be:u10/16X3>>6"))
        #expect(other.isBigEndian && !other.isSigned && other.bits == 10 && other.count == 3 && other.size == 6)
        #expect(try #require(ScanType("le:s64/64>>0")).size == 8)
        #expect(try #require(ScanType("le:s32/32")).shift == 0)
    }

    @Test(arguments: [
        "", ":", "le", "le:", "le:s", "le:s12", "le:s12/", "le:12/16", "xe:s12/16", "le:f32/32", "le:s12/16>>",
        "le:s12/16>>x",
        "le:s12/16>>5", "le:s0/16", "le:s17/16", "le:s12/12", "le:s12/128", "le:s-2/16", "le:s12/16X0", "le:s12/16X65",
        "le:s12/16>>4 ", " le:s12/16", "le:s12/16>>4X2", "le/s12:16", "le:s٣/16", "le:s9999999999999999999/16",
    ])
    func `anything else is none`(text: String) {
        #expect(ScanType(text) == nil)
    }

    @Test(
        "A value is found in its bytes",
        arguments: [
            // The ABI document's own case: 12 bits, right behind 4 that mean nothing, in either order of bytes.
            ("le:s12/16>>4", [0x40, 0x80], -2044), ("be:s12/16>>4", [0x80, 0x4F], -2044),
            ("le:u12/16>>4", [0x40, 0x80], 2052), ("le:s12/16>>0", [0xFF, 0xF7], 2047),
            ("le:s16/16", [0x00, 0x80], -32768), ("be:s16/16", [0x00, 0x80], 128), ("be:u8/8", [0xFF], 255),
            ("le:s8/8", [0xFF], -1), ("be:s24/32>>8", [0xFF, 0xFF, 0xFE, 0x00], -2),
            ("le:s32/32", [0xFE, 0xFF, 0xFF, 0xFF], -2),
            ("le:s64/64", [1, 0, 0, 0, 0, 0, 0, 0x80], -9_223_372_036_854_775_807),
            ("be:s10/16>>6", [0x7F, 0xFF], 511), ("be:u16/16", [0x12, 0x34], 0x1234),
        ] as [(String, [UInt8], Int64)]
    )
    func values(text: String, bytes: [UInt8], value: Int64) throws {
        #expect(try #require(ScanType(text)).value(of: bytes) == value)
    }

    @Test func `every type and value written as the kernel does is read back`() throws {
        var numbers = Numbers(seed: 7)
        for _ in 0..<20_000 {
            let storage = [8, 16, 32, 64][numbers.below(4)]
            let bits = 1 + numbers.below(storage)
            let shift = numbers.below(storage - bits + 1)
            let (isBig, isSigned) = (numbers.below(2) == 0, numbers.below(2) == 0)
            let text = "\(isBig ? "be" : "le"):\(isSigned ? "s" : "u")\(bits)/\(storage)>>\(shift)"
            let type = try #require(ScanType(text), "\(text)")
            // What is around the value means nothing, and is anything.
            let word = numbers.next()
            let mask: UInt64 = bits == 64 ? .max : (1 << UInt64(bits)) - 1
            let plain = (word >> UInt64(shift)) & mask
            let isNegative = isSigned && plain >> UInt64(bits - 1) & 1 == 1
            let expected = Int64(bitPattern: isNegative ? plain | ~mask : plain)
            guard shift + bits <= storage else { continue }
            let bytes = (0..<(storage / 8)).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
            #expect(type.value(of: isBig ? bytes.reversed() : bytes) == expected, "\(text) \(bytes)")
        }
    }

    @Test func `no text, however broken, does harm`() {
        var numbers = Numbers(seed: 11)
        let alphabet = Array("lebsu0123456789:/X>> -\u{0}é٣")
        var read = 0
        for _ in 0..<200_000 {
            var text = Array("le:s12/16X2>>4")
            for _ in 0..<numbers.below(4) {
                let place = numbers.below(text.count)
                switch numbers.below(3) {
                case 0: text[place] = alphabet[numbers.below(alphabet.count)]
                case 1: text.insert(alphabet[numbers.below(alphabet.count)], at: place)
                default: if text.count > 1 { text.remove(at: place) }
                }
            }
            guard let type = ScanType(String(text)) else { continue }
            read += 1
            #expect(type.bits > 0 && type.shift + type.bits <= type.storageBits && type.size <= 512)
            _ = type.value(of: [UInt8](repeating: 0xA5, count: type.size))
        }
        #expect(read > 20_000)
    }
}

@Suite struct ScanLayoutTests {
    private func element(_ name: String, _ index: Int, _ type: String) throws -> ScanElement {
        ScanElement(name: name, index: index, type: try #require(ScanType(type)))
    }

    private func axes(_ type: String, from index: Int = 0) throws -> [ScanElement] {
        try ScanLayout.axisNames.enumerated().map { try element($1, index + $0, type) }
    }

    @Test func `the time behind three of 16 bits is aligned to 8 bytes`() throws {
        let layout = try #require(try ScanLayout(axes("le:s16/16") + [element("in_timestamp", 3, "le:s64/64")]))
        #expect(layout.size == 16)
        let (raw, nanoseconds) = layout.sample([1, 0, 0xFE, 0xFF, 3, 0, 9, 9, 5, 0, 0, 0, 0, 0, 0, 0])
        #expect(raw == [1, -2, 3] && nanoseconds == 5)
    }

    @Test func `elements lie in the order of their indices, whatever that of their names`() throws {
        let elements = try [
            element("in_accel_x", 2, "be:s16/16"), element("in_accel_y", 1, "be:s16/16"),
            element("in_accel_z", 0, "be:s16/16"),
        ]
        let layout = try #require(ScanLayout(elements))
        #expect(layout.size == 6 && layout.sample([0, 1, 0, 2, 0, 3]).raw == [3, 2, 1])
    }

    @Test func `what else is switched on keeps its place`() throws {
        // A byte in front, a gyroscope's word in between.
        let elements =
            try axes("le:s16/16", from: 1) + [
                element("in_temp", 0, "le:s8/8"), element("in_anglvel_x", 5, "le:s32/32"),
            ]
        let layout = try #require(ScanLayout(elements))
        #expect(layout.size == 12)
        #expect(layout.sample([7, 0, 1, 0, 2, 0, 3, 0, 9, 9, 9, 9]).raw == [1, 2, 3])
    }

    @Test func `a sample is as long as its largest element's size allows`() throws {
        // 3 × 32 bits and a byte: 13 bytes, 16 with the padding.
        let layout = try #require(try ScanLayout(axes("le:s32/32") + [element("in_temp", 3, "le:s8/8")]))
        #expect(layout.size == 16)
    }

    @Test func `repeated values take their place`() throws {
        let elements = try axes("le:s8/8", from: 1) + [element("in_rot_quaternion", 0, "le:s32/32X4")]
        let layout = try #require(ScanLayout(elements))
        #expect(layout.size == 32)
        #expect(
            layout.sample([UInt8](repeating: 0, count: 16) + [1, 2, 3] + [UInt8](repeating: 0, count: 13)).raw == [
                1, 2, 3,
            ]
        )
    }

    @Test func `without an axis there is no layout`() throws {
        #expect(try ScanLayout(Array(axes("le:s16/16").dropLast())) == nil)
        #expect(ScanLayout([]) == nil)
    }
}
