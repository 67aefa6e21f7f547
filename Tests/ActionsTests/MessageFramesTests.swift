import JSON
import QuickConnect
import TestRig
import Testing

@testable import Actions

@Suite("Messages of a browser")
struct MessageFramesTests {
    private func read(_ bytes: [UInt8], inPiecesOf size: Int, limit: Int = 100) -> (
        frames: [MessageFrames.Frame], reader: MessageFrames
    ) {
        var reader = MessageFrames(limit: limit)
        var frames: [MessageFrames.Frame] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            frames += piece.withUnsafeBytes { reader.read($0) }
        }
        return (frames, reader)
    }

    private func length(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }

    @Test(arguments: [1, 2, 3, 4, 5, 7, 1000])
    func `messages come in any pieces`(size: Int) throws {
        let texts = ["{}", "", #"{"id":1}"#, String(repeating: "x", count: 100)]
        let bytes = texts.flatMap { MessageFrames.frame($0) ?? [] }
        let (frames, reader) = read(bytes, inPiecesOf: size)
        #expect(frames == texts.map { .message(Array($0.utf8)) })
        #expect(reader.isAtBoundary && !reader.isBroken)
    }

    @Test(arguments: [1, 3, 50, 1000])
    func `what is too long is skipped, and what follows is read`(size: Int) throws {
        let long = length(101) + [UInt8](repeating: 7, count: 101)
        let (frames, reader) = read(long + (try #require(MessageFrames.frame("[]"))) + long, inPiecesOf: size)
        #expect(frames == [.tooLarge(bytes: 101), .message(Array("[]".utf8)), .tooLarge(bytes: 101)])
        #expect(reader.isAtBoundary)
    }

    @Test func `what no browser sends ends it`() {
        let (frames, reader) = read(Array("GET / HTTP/1.1\r\n\r\n".utf8), inPiecesOf: 4)
        #expect(frames.isEmpty && reader.isBroken && !reader.isAtBoundary)
    }

    @Test func `an end in the middle is seen`() {
        #expect(!read([2, 0], inPiecesOf: 1).reader.isAtBoundary)
        #expect(!read(length(5) + [1], inPiecesOf: 9).reader.isAtBoundary)
        #expect(!read(length(500) + [1], inPiecesOf: 9).reader.isAtBoundary)
        #expect(read([], inPiecesOf: 1).reader.isAtBoundary)
    }

    @Test func `an answer has at most a mebibyte`() {
        #expect(MessageFrames.frame(String(repeating: "x", count: 1 << 20))?.count == 4 + 1 << 20)
        #expect(MessageFrames.frame(String(repeating: "x", count: 1 << 20 + 1)) == nil)
    }

    @Test(
        arguments: [
            ("", nil), ("{", nil), ("[]", nil), ("{}", nil), (#"{"id":"1"}"#, nil), (#"{"id":1}"#, 1),
            (#"{"id":1,"page":"x"}"#, 1),
            (#"{"id":1,"page":"x","verb":"fly"}"#, 1), (#"{"id":1,"page":"x","verb":"run"}"#, 1),
            (#"{"id":1,"page":"x","verb":"call","action":"a"}"#, 1),
            (#"{"id":1,"page":"x","verb":"ended","action":"a","state":"x"}"#, 1),
            (#"{"id":1,"page":2,"verb":"list"}"#, 1), (String(repeating: "[", count: 100), nil),
        ] as [(String, Int64?)]
    )
    func `what is no request is refused, with its id where it has one`(text: String, id: Int64?) throws {
        let refusal = try #require(throws: BrowserRequest.Refusal.self) { try BrowserRequest(Array(text.utf8)) }
        #expect(refusal.id == id && refusal.error.code == .badRequest)
    }

    @Test func `a request that is no text is refused`() {
        #expect(throws: BrowserRequest.Refusal.self) { try BrowserRequest([0xFF, 0xFE]) }
    }
}
