import Foundation
import TestRig
import Testing

@testable import QuickConnectClient

@Suite("What waits to be sent")
struct OutboxTests {
    @Test func `it goes out in order, as much at a time as the kernel takes`() throws {
        let outbox = Outbox()
        outbox.append("one\n".utf8)
        outbox.append("two\n".utf8)
        var sent: [String] = []
        for _ in 0..<4 {
            try outbox.flush { bytes in
                sent.append(String(decoding: bytes.prefix(3), as: UTF8.self))
                return min(bytes.count, 3)
            }
        }
        #expect(sent.joined() == "one\ntwo\n")
        #expect(outbox.isEmpty)
        try outbox.flush { _ in
            Issue.record("there is nothing to send")
            return 0
        }
    }

    @Test func `no lock is held while the kernel is called`() throws {
        let outbox = Outbox()
        outbox.append("one\n".utf8)
        try outbox.flush { bytes in
            // Where one were held, this would wait for ever.
            outbox.append("two\n".utf8)
            #expect(String(decoding: bytes, as: UTF8.self) == "one\n")
            return bytes.count
        }
        #expect(!outbox.isEmpty)
    }

    @Test func `a thread that fills it is not held up by last words that nobody reads`() async throws {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let (socket, reader) = (pair[0], pair[1])
        let outbox = Outbox()
        outbox.append(repeatElement(UInt8(ascii: "x"), count: 8 << 20))
        let words = Task.detached { outbox.sendLastWords(to: socket, within: 60_000) }
        try await eventually("it is being sent") {
            var count: Int32 = 0
            return ioctl(reader, UInt(FIONREAD), &count) == 0 && count > 100_000
        }
        // It returns before anybody reads.
        outbox.append("more\n".utf8)
        close(reader)
        await words.value
        close(socket)
    }

    @Test func `last words wait for the thread that sends, and come behind its bytes`() throws {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        let outbox = Outbox()
        outbox.append("half".utf8)
        try outbox.flush { _ in
            // Meanwhile nobody else may send.
            outbox.sendLastWords(to: pair[0], within: 20)
            return 2
        }
        outbox.append(" last\n".utf8)
        outbox.sendLastWords(to: pair[0], within: 1000)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = recv(pair[1], &bytes, bytes.count, Int32(MSG_DONTWAIT))
        #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == "lf last\n")
    }
}
