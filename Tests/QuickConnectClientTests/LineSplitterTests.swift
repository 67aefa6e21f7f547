import Linux
import Testing

@testable import QuickConnectClient

@Suite("Lines from the pieces of a socket")
struct LineSplitterTests {
    private func lines(_ pieces: [String], limit: Int = .max) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [String] = []
        for piece in pieces {
            Array(piece.utf8).withUnsafeBufferPointer { bytes in
                splitter.split(bytes) { line in
                    switch line {
                    case .line(let line): lines.append(String(decoding: line, as: UTF8.self))
                    case .overlong(let start): lines.append("overlong \(String(decoding: start, as: UTF8.self))")
                    }
                }
            }
        }
        return lines
    }

    @Test func `a line may come in any pieces, and several in one`() {
        #expect(lines(["a", "b\nc", "\r\n\nd\n", "rest"]) == ["ab", "c", "", "d"])
        #expect(lines(["one\ntwo\nthree\n"]) == ["one", "two", "three"])
        #expect(lines(["one\r", "\ntwo", "", "\r\n"]) == ["one", "two"])
    }

    @Test func `a line as long as the limit is one, a longer one is told once and skipped to its end`() {
        #expect(lines(["abcd\nabcd\r\n"], limit: 4) == ["abcd", "abcd"])
        #expect(lines(["abcde\nx\n"], limit: 4) == ["overlong abcde", "x"])
        #expect(lines(["abc", "def", "ghi", "jkl\nx\n"], limit: 4) == ["overlong abcdef", "x"])
        #expect(lines(["abcd", "\r", "\n"], limit: 4) == ["abcd"])
    }

    @Test func `what is skipped is not kept`() {
        var splitter = LineSplitter(limit: 100)
        Array(repeating: UInt8(ascii: "x"), count: 1 << 20).withUnsafeBufferPointer { bytes in
            for _ in 0..<10 { splitter.split(bytes) { _ in } }
        }
        #expect(splitter.pendingCount == 0)
    }

    /// In seconds, since it takes time in proportion to its length.
    @Test func `a long line in small pieces is put together`() {
        let piece = String(repeating: "x", count: 4096)
        let long = lines(Array(repeating: piece, count: 4096) + ["\n", "next\n"])
        #expect(long.map(\.utf8.count) == [4096 * 4096, 4])
    }

    @Test func `the socket is the one that is named, else the environment's, else the two usual ones`() {
        let environment = ["QUICKCONNECT_SOCKET": "/e", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(SocketPaths.candidates(named: "/n", environment: environment) == ["/n"])
        #expect(SocketPaths.candidates(named: nil, environment: environment) == ["/e"])
        #expect(
            SocketPaths.candidates(named: nil, environment: ["XDG_RUNTIME_DIR": "/run/user/7"])
                == ["/run/quickconnect/quickconnect.sock", "/run/user/7/quickconnect.sock"]
        )
    }
}
