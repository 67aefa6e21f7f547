import Testing

@testable import QuickConnectClient

@Suite("Lines from the pieces of a socket")
struct LineReaderTests {
    private func lines(_ pieces: [String]) -> [String] {
        var reader = LineReader()
        var lines: [String] = []
        for piece in pieces {
            Array(piece.utf8).withUnsafeBytes { reader.append($0) }
            while let line = reader.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        return lines
    }

    @Test func `a line may come in any pieces, and several in one`() {
        #expect(lines(["a", "b\nc", "\r\n\nd\n", "rest"]) == ["ab", "c", "", "d"])
        #expect(lines(["one\ntwo\nthree\n"]) == ["one", "two", "three"])
    }

    @Test func `a long line in small pieces takes time in proportion to its length`() {
        let piece = String(repeating: "x", count: 4096)
        let start = ContinuousClock.now
        let long = lines(Array(repeating: piece, count: 4096) + ["\n", "next\n"])
        #expect(long.map(\.utf8.count) == [4096 * 4096, 4])
        #expect(ContinuousClock.now - start < .seconds(20))
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
