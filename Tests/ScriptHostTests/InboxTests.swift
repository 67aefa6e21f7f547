import QuickConnect
import Testing

@testable import ScriptHost

@Suite("What comes from the daemon")
struct InboxTests {
    private func lines(_ pieces: [String]) -> [String] {
        var inbox = Inbox()
        return pieces.map { String(decoding: inbox.lines(with: Array($0.utf8)), as: UTF8.self) }
    }

    @Test func `lines are given when they are whole, whatever the pieces they come in`() {
        #expect(lines(["a\n"]) == ["a\n"])
        #expect(lines(["a", "b\nc", "\n", "d\ne\nf"]) == ["", "ab\n", "c\n", "d\ne\n"])
    }

    @Test func `a long line in small pieces takes time in proportion to its length`() {
        let piece = String(repeating: "x", count: 4096)
        let start = ContinuousClock.now
        let long = lines(Array(repeating: piece, count: 4096) + ["\nnext"]).last
        #expect(long?.utf8.count == 4096 * 4096 + 1)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    private func list(_ lines: String) -> (array: String, strays: [String]) {
        var strays: [String] = []
        let array = MessageList.array(of: Array(lines.utf8)) { strays.append(String(decoding: $0, as: UTF8.self)) }
        return (String(decoding: array, as: UTF8.self), strays)
    }

    @Test func `the script is given an array of the messages`() {
        #expect(list("{\"a\":1}\n").array == #"[{"a":1}]"#)
        #expect(list("{\"a\":1}\n{\"b\":[{}]}\r\n{}\n").array == "[{\"a\":1},{\"b\":[{}]}\r,{}]")
    }

    @Test func `a line that is no message is told apart`() {
        let (array, strays) = list("{\"a\":1}\nhandleJSONRequest?cmd=error\n\n{\"b\":2}\n")
        #expect(array == #"[{"a":1},{"b":2}]"#)
        #expect(strays == ["handleJSONRequest?cmd=error"])
        #expect(list("no message\n").array == "[]")
    }
}
