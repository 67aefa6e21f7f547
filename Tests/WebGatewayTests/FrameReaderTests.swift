import Testing
import WebGateway

/// The rules of RFC 6455, each with bytes. What the Autobahn test suite asks of frames (its cases 1 to 7) stands here, too.
@Suite("Frames")
struct FrameReaderTests {
    /// What came of some bytes.
    struct Heard: Equatable {
        var lines = ""
        var answers: [UInt8] = []
        var end: FrameReader.End?
    }

    /// Reads the bytes in pieces of a size.
    private func hear(_ bytes: [UInt8], limit: Int = 1 << 20, pieces: Int = .max) -> Heard {
        var reader = FrameReader(limit: limit)
        var heard = Heard()
        var lines: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = pieces == .max ? bytes.count : min(start + pieces, bytes.count)
            bytes[start..<end].withUnsafeBytes { reader.read($0) }
            lines += reader.takeLines()
            heard.answers += reader.takeAnswers()
            start = end
        }
        heard.lines = String(decoding: lines, as: UTF8.self)
        heard.end = reader.end
        return heard
    }

    /// A frame as a browser sends it.
    private func frame(
        _ opcode: UInt8,
        _ payload: [UInt8],
        isFinal: Bool = true,
        reserved: UInt8 = 0,
        mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D],
        lengthBytes: Int? = nil
    ) -> [UInt8] {
        let size = lengthBytes ?? (payload.count < 126 ? 1 : payload.count <= 0xFFFF ? 2 : 8)
        let first: UInt8 = size == 1 ? UInt8(payload.count) : size == 2 ? 126 : 127
        var bytes = [(isFinal ? 0x80 : 0) | reserved | opcode, (mask == nil ? 0 : 0x80) | first]
        if size > 1 { bytes += (0..<size).map { UInt8(truncatingIfNeeded: payload.count >> (8 * (size - 1 - $0))) } }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    private func text(_ text: String, isFinal: Bool = true) -> [UInt8] { frame(1, Array(text.utf8), isFinal: isFinal) }
    private func more(_ text: String, isFinal: Bool = true) -> [UInt8] { frame(0, Array(text.utf8), isFinal: isFinal) }
    private func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        frame(8, [UInt8(code >> 8), UInt8(code & 255)] + Array(reason.utf8))
    }

    private func code(_ heard: Heard) -> UInt16? {
        if case .failed(let code, _)? = heard.end { code.rawValue } else { nil }
    }

    @Test func `each message is a line`() {
        #expect(hear(text("Hello") + text("") + text("Hellö")).lines == "Hello\n\nHellö\n")
        #expect(hear(frame(1, Array("Hello".utf8))).lines == "Hello\n")
        // RFC 6455, section 5.7.
        #expect(hear([0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]).lines == "Hello\n")
    }

    @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 127, 128, 65_535, 65_536, 65_537, 200_001])
    func `lengths around each form of the header`(length: Int) {
        let message = String(repeating: "x", count: length)
        #expect(hear(text(message)).lines == message + "\n")
        #expect(hear(text(message), pieces: 997).lines == message + "\n")
    }

    @Test func `all of it, split at every byte`() {
        let bytes =
            text("one") + text("tw", isFinal: false) + frame(9, Array("ping".utf8)) + more("", isFinal: false)
            + more("o — ", isFinal: false) + more("three 🦆") + frame(10, [1, 2])
            + text(String(repeating: "long ", count: 100)) + close(1000, "bye")
        let whole = hear(bytes)
        #expect(whole.lines == "one\ntwo — three 🦆\n" + String(repeating: "long ", count: 100) + "\n")
        #expect(whole.answers == [0x8A, 4] + Array("ping".utf8))
        #expect(whole.end == .closed(.normal))
        for size in 1...40 { #expect(hear(bytes, pieces: size) == whole, "pieces of \(size)") }
        for cut in 0...bytes.count {
            var reader = FrameReader(limit: 1 << 20)
            bytes[..<cut].withUnsafeBytes { reader.read($0) }
            var lines = reader.takeLines()
            var answers = reader.takeAnswers()
            bytes[cut...].withUnsafeBytes { reader.read($0) }
            lines += reader.takeLines()
            answers += reader.takeAnswers()
            let heard = Heard(lines: String(decoding: lines, as: UTF8.self), answers: answers, end: reader.end)
            #expect(heard == whole, "cut at \(cut)")
        }
    }

    @Test func `pings are answered with what they carry, also amid a message`() {
        #expect(hear(frame(9, [])).answers == [0x8A, 0])
        let longest = [UInt8](repeating: 0xFE, count: 125)
        #expect(hear(frame(9, longest)).answers == [0x8A, 125] + longest)
        #expect(hear(frame(9, longest + [1])).end == hear(frame(9, longest + [1], lengthBytes: 2)).end)
        #expect(code(hear(frame(9, longest + [1]))) == 1002)
        #expect(hear(frame(10, longest)) == Heard())
    }

    @Test func `what a client may not send is a protocol error`() {
        #expect(code(hear(frame(1, [65], mask: nil))) == 1002, "not masked")
        for reserved: UInt8 in [0x10, 0x20, 0x40, 0x70] {
            #expect(code(hear(frame(1, [65], reserved: reserved))) == 1002)
        }
        for opcode: UInt8 in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] { #expect(code(hear(frame(opcode, []))) == 1002) }
        for opcode: UInt8 in [8, 9, 10] { #expect(code(hear(frame(opcode, [], isFinal: false))) == 1002) }
        #expect(code(hear(more("x"))) == 1002, "continues nothing")
        #expect(code(hear(text("a", isFinal: false) + text("b"))) == 1002, "begins amid a message")
        #expect(code(hear(text("a") + more("b"))) == 1002)
        #expect(code(hear(frame(2, [1]))) == 1003, "binary")
        for size in [2, 8] { #expect(code(hear(frame(1, [65], lengthBytes: size))) == 1002, "longer than needed") }
        #expect(code(hear([0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])) == 1002, "a negative length")
    }

    @Test func `it is wrong as soon as the first two bytes say so`() {
        #expect(code(hear([0x82, 0x80])) == 1003)
        #expect(code(hear([0x81, 0x01])) == 1002)
        #expect(hear([0x81, 0x80]) == Heard())
    }

    @Test func `what stands before a mistake still counts, what stands behind it does not`() {
        let heard = hear(text("one") + frame(9, [7]) + frame(3, []) + text("two") + frame(9, [8]))
        #expect(heard.lines == "one\n" && heard.answers == [0x8A, 1, 7])
    }

    @Test func `messages have a limit, however they are cut`() {
        let limit = 1000
        let fits = String(repeating: "x", count: limit)
        #expect(hear(text(fits), limit: limit).end == nil)
        #expect(code(hear(text(fits + "x"), limit: limit)) == 1009)
        #expect(code(hear(text(fits, isFinal: false) + more("x"), limit: limit)) == 1009)
        #expect(hear(text(fits, isFinal: false) + frame(9, [1]) + more(""), limit: limit).lines == fits + "\n")
        // 1 GB, and 1 TiB, announced: refused before a byte of it comes.
        #expect(code(hear([0x81, 0xFF, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4], limit: limit)) == 1009)
        #expect(code(hear([0x81, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4], limit: limit)) == 1009)
        // The next message has the whole limit again.
        #expect(hear(text(fits) + text(fits), limit: limit).lines == fits + "\n" + fits + "\n")
    }

    @Test(
        arguments: [
            [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF], [0x80], [0xFF], [0xFE], [0xED, 0xBF, 0xBF],
            [0xC2],
            [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]]
    )
    func `text is UTF-8`(bytes: [UInt8]) {
        #expect(code(hear(frame(1, bytes))) == 1007)
        #expect(code(hear(frame(1, [0x41] + bytes, isFinal: false) + more(""))) == 1007)
        #expect(code(hear(frame(8, [0x03, 0xE8] + bytes))) == 1007)
        #expect(hear(text("good") + frame(1, bytes)).lines == "good\n")
    }

    @Test func `a character may be cut between frames`() {
        let duck = Array("🦆".utf8)
        #expect(hear(frame(1, Array(duck[..<2]), isFinal: false) + frame(0, Array(duck[2...]))).lines == "🦆\n")
        #expect(hear(text("\u{0}\u{FFFF}\u{10FFFF}\u{D7FF}")).lines == "\u{0}\u{FFFF}\u{10FFFF}\u{D7FF}\n")
    }

    @Test func `text is refused at its first wrong byte, however it comes`() {
        let good = Array("κόσμε".utf8)
        // Each one with the last byte that can still become text.
        let wrongs: [[UInt8]] = [
            [0xFF], [0x80], [0xC0], [0xF5], [0xE0, 0x9F], [0xED, 0xA0], [0xF0, 0x8F], [0xF4, 0x90],
        ]
        for wrong in wrongs {
            let begun = good + wrong.dropLast()
            #expect(hear(frame(1, begun, isFinal: false)).end == nil, "\(wrong)")
            #expect(code(hear(frame(1, begun + wrong.suffix(1), isFinal: false))) == 1007, "\(wrong)")
            #expect(code(hear(frame(1, begun, isFinal: false) + frame(0, wrong.suffix(1), isFinal: false))) == 1007)
            // Its frame is not complete.
            let whole = frame(1, begun + wrong.suffix(1) + Array("more".utf8))
            #expect(hear(Array(whole.dropLast(5)), pieces: 1).end == nil, "\(wrong)")
            #expect(code(hear(Array(whole.dropLast(4)), pieces: 1)) == 1007, "\(wrong)")
        }
        for right in ["\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{10000}", "\u{10FFFF}"] {
            #expect(hear(text("a" + right), pieces: 1).lines == "a\(right)\n")
        }
    }

    @Test func `messages one by one, for servers that take binary ones`() {
        let bytes =
            text("a\nb", isFinal: false) + frame(9, [7]) + frame(9, [8]) + more("c") + frame(2, [0xFF], isFinal: false)
            + frame(0, [0xFE, 10]) + frame(2, []) + text("")
        for size in [1, 2, 3, 5, 8, bytes.count] {
            var reader = FrameReader(limit: 100, takesBinary: true)
            var heard: [String] = []
            var answers: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
                    var rest = piece[...]
                    repeat {
                        let message = reader.readMessage(&rest)
                        answers += reader.takeAnswers()
                        if let message { heard.append("\(message.kind) \(message.payload)") }
                    } while !rest.isEmpty
                }
            }
            #expect(heard == ["text [97, 10, 98, 99]", "binary [255, 254, 10]", "binary []", "text []"])
            #expect(answers == [0x8A, 1, 7, 0x8A, 1, 8] && reader.end == nil)
        }
    }

    @Test func `goodbyes`() {
        #expect(hear(frame(8, [])).end == .closed(nil))
        for good: UInt16 in [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
        ] {
            #expect(hear(close(good, "because")).end == .closed(CloseCode(rawValue: good)))
        }
        for bad: UInt16 in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            #expect(code(hear(close(bad))) == 1002, "\(bad)")
        }
        #expect(code(hear(frame(8, [3]))) == 1002)
        #expect(hear(close(1000) + text("more")).lines == "")
    }

    @Test func `random bytes, and random frames in random pieces, are read the same however they come`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                var payload = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                    UInt8.random(in: 32...126, using: &generator)
                }
                // Characters, half ones among them, and what is none.
                let others: [[UInt8]] = [[0xC3, 0xA9], [0xF0, 0x9F, 0xA6, 0x86], [0xE2, 0x82], [0xFF]]
                for _ in 0..<Int.random(in: 0...2, using: &generator) {
                    let place = Int.random(in: 0...payload.count, using: &generator)
                    payload.insert(contentsOf: others.randomElement(using: &generator) ?? [], at: place)
                }
                let mask = (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let opcodes: [UInt8] = [0, 1, 1, 1, 9, 10]
                let opcode = opcodes.randomElement(using: &generator) ?? 1
                let isControl = opcode > 7
                bytes += frame(
                    opcode,
                    isControl ? Array(payload.prefix(125)) : payload,
                    isFinal: isControl || Bool.random(using: &generator),
                    mask: mask
                )
            }
            if Bool.random(using: &generator) {
                bytes += (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
            }
            let size = Int.random(in: 1...50, using: &generator)
            #expect(hear(bytes) == hear(bytes, pieces: size), "pieces of \(size): \(bytes)")
        }
    }

    @Test func `frames are written as a server writes them`() {
        func written(_ count: Int) -> [UInt8] {
            var frames: [UInt8] = []
            [UInt8](repeating: 65, count: count).withUnsafeBytes { FrameWriter.append(.text, $0, to: &frames) }
            return Array(frames.prefix(frames.count - count))
        }
        #expect(written(0) == [0x81, 0] && written(125) == [0x81, 125])
        #expect(written(126) == [0x81, 126, 0, 126] && written(65_535) == [0x81, 126, 255, 255])
        #expect(written(65_536) == [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])
        #expect(FrameWriter.close(nil) == [0x88, 0])
        #expect(FrameWriter.close(.goingAway, "bye") == [0x88, 5, 0x03, 0xE9] + Array("bye".utf8))
        // A control frame has up to 125 bytes, and no half character.
        let long = FrameWriter.close(.policy, String(repeating: "ä", count: 100))
        #expect(long.count == 2 + 2 + 122 && String(validating: long[4...], as: UTF8.self) != nil)
    }
}
