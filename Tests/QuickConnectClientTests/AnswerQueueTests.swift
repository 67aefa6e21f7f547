import JSON
import Testing

@testable import QuickConnectClient

@Suite("Answers that wait for the daemon")
struct AnswerQueueTests {
    private let queue = AnswerQueue()
    private let text = JSONValue.string(String(repeating: "x", count: 1 << 20))

    private func call(_ user: String, _ id: String) throws -> HandlerCall {
        try #require(HandlerCall(["callbackId": .string(id), "handlerName": "h", "caller": ["user": .string(user)]]))
    }

    private func add(_ value: JSONValue, for user: String, _ id: String) throws {
        queue.append(.success(HandlerCall.Answer(value)), to: try call(user, id))
    }

    @Test func `the callers take turns, and the one with its share is full`() throws {
        for number in 1...4 { try add(text, for: "ann", "a\(number)") }
        try add(1, for: "bob", "b1")
        #expect(queue.isFull(for: "ann") && !queue.isFull(for: "bob") && !queue.isFull(for: "eve"))
        #expect(queue.largest.map(\.caller) == ["ann", "bob"])
        #expect((1...3).compactMap { _ in queue.next()?.number.id } == ["a1", "b1", "a2"])
        #expect(!queue.isFull(for: "ann"))
    }

    @Test func `what is being made counts, also over the end of a connection`() throws {
        queue.expect(5 << 20, for: "ann")
        try add(text, for: "ann", "a1")
        queue.clear()
        #expect(queue.isEmpty && queue.isFull(for: "ann"))
        queue.expect(-5 << 20, for: "ann")
        #expect(!queue.isFull(for: "ann") && queue.largest.isEmpty)
    }
}
