import Testing

@testable import quickconnectd

@Suite("Lines in what a connection sends")
struct LineFramerTests {
    /// A line, or nil for one that is too long.
    private typealias Line = String?

    /// The lines of some pieces, taken as a connection takes them.
    private static func lines(_ pieces: [[UInt8]], limit: Int) -> [Line] {
        var framer = LineFramer(limit: limit)
        var lines: [Line] = []
        var input: [UInt8] = []
        for piece in pieces {
            input += piece
            var done = 0
            input.withUnsafeBufferPointer { bytes in
                while true {
                    let rest = UnsafeBufferPointer(rebasing: bytes[done...])
                    let (step, consumed) = framer.next(rest)
                    done += consumed
                    switch step {
                    case .line(let range): lines.append(String(decoding: rest[range], as: UTF8.self))
                    case .overlong: lines.append(nil)
                    case .needsMore: return
                    }
                }
            }
            input.removeFirst(done)
            // What is kept is no more than a line may have, with its line break.
            #expect(input.count <= limit + 1)
        }
        return lines
    }

    private static func lines(_ pieces: String..., limit: Int = 10) -> [Line] {
        lines(pieces.map { Array($0.utf8) }, limit: limit)
    }

    @Test("A line may come in any pieces, and several in one")
    func pieces() {
        #expect(Self.lines("a", "b\nc", "\n\nd\n", "rest") == ["ab", "c", "", "d"])
        #expect(Self.lines("one\ntwo\nthree\n") == ["one", "two", "three"])
        #expect(Self.lines("") == [])
        #expect(Self.lines("\n") == [""])
    }

    @Test("One carriage return before the line feed is dropped")
    func carriageReturns() {
        #expect(Self.lines("a\r\n\r\nb\r", "\nc\r\r\nd\re\n") == ["a", "", "b", "c\r", "d\re"])
    }

    @Test("A line of exactly the limit is one, with either line break; one byte more is too long, once")
    func limit() {
        let longest = "0123456789"
        for end in ["\n", "\r\n"] {
            #expect(Self.lines(longest + end + "b\n") == [longest, "b"])
            #expect(Self.lines(longest + "x" + end + "b\n") == [nil, "b"])
            #expect(Self.lines(longest, end, "b\n") == [longest, "b"])
            #expect(Self.lines(longest, "x", end, "b\n") == [nil, "b"])
            #expect(Self.lines(longest + "x", "y", "z", "zzzzzzzzzzzzz" + end + "b\n") == [nil, "b"])
        }
        #expect(Self.lines("\r\n", limit: 1) == [""])
    }

    @Test("Behind a line that is too long the next ones are read, however the pieces fall")
    func behindOverlong() {
        let text = Array("ok\n0123456789012345678901234567890123456789\r\nnext\n01234567890\nlast\n".utf8)
        for size in 1...text.count {
            let pieces = stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min($0 + size, text.count)]) }
            #expect(Self.lines(pieces, limit: 10) == ["ok", nil, "next", nil, "last"])
        }
    }

    @Test("Random streams in random pieces have the lines that they have in one", arguments: 0..<20)
    func random(seed: UInt64) {
        var state = seed &+ 1
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<200 {
            let stream = (0..<below(200)).map { _ in Array("aaabbb\n\r\r".utf8)[below(9)] }
            var pieces: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + below(12))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            let parts = stream.split(separator: 0x0A, omittingEmptySubsequences: false)
            let expected = parts.dropLast().map { line -> Line in
                let line = line.last == 0x0D ? line.dropLast() : line
                return line.count <= 8 ? String(decoding: line, as: UTF8.self) : nil
            }
            #expect(Self.lines(pieces, limit: 8) == expected)
        }
    }
}
