import JSON
import Testing

@testable import QuickConnectClient

@Suite("A client's conversation: long lines")
struct LongLineRules {
    private func conversation() -> ClientConversation {
        var conversation = ClientConversation.connected { $0.putAsideBytes = 100 }
        conversation.register(handler: "h", hearsCancel: true)
        _ = conversation.said()
        return conversation
    }

    private let text = String(repeating: "x", count: 200)

    private func call(_ id: String, _ text: String) -> String {
        #"{"handlerName":"h","data":["\#(text)"],"callbackId":"\#(id)","command":"h"}"#
    }

    @Test func `a long line is parsed elsewhere, and those behind it are taken at once`() throws {
        var conversation = conversation()
        conversation.hear(call("q1", text), call("q2", "short"))
        guard case .called(let short)? = conversation.takeEvents().first else { throw Failed() }
        #expect(short.data == ["short"])
        let lines = conversation.takeLongLines()
        #expect(lines.count == 1 && conversation.takeLongLines().isEmpty)
        var parsed = try #require(lines.first).parsed()
        #expect(parsed.call?.data == [.string(text)])
        parsed.call?.data = .null
        conversation.take(parsed)
        guard case .called(let long)? = conversation.takeEvents().first else { throw Failed() }
        #expect(long.data == .null)
        let answer = long.answer(.success(HandlerCall.Answer([.string(text)])))
        let first = conversation.answer(answer)
        let second = conversation.answer(answer)
        #expect(first && !second, "an answer is given once")
        #expect(conversation.said() == [#"{"responseId":"q1","responseData":["\#(text)"]}"#])
    }

    @Test func `a call that is cancelled while it is parsed is not made`() throws {
        var conversation = conversation()
        conversation.hear(call("q1", text), #"{"handlerName":"cancel","data":["q1"]}"#, call("q3", text))
        let lines = conversation.takeLongLines()
        for line in lines { conversation.take(line.parsed()) }
        let events = conversation.takeEvents()
        guard events.count == 1, case .called(let call)? = events.first else { throw Failed() }
        #expect(call.id == "q3")
    }

    @Test func `a line of a lost connection is nobody's`() throws {
        var conversation = conversation()
        conversation.hear(call("q1", text))
        let line = try #require(conversation.takeLongLines().first)
        conversation.lost("gone")
        conversation.connected()
        _ = conversation.takeEvents()
        conversation.take(line.parsed())
        #expect(conversation.takeEvents().isEmpty)
        conversation.hear(call("q1", text))
        for line in conversation.takeLongLines() { conversation.take(line.parsed()) }
        #expect(conversation.takeEvents().count == 1)
    }

    @Test func `a long reply and a long event come as short ones do, and a long answer can be too large`() throws {
        var conversation = conversation()
        let id = conversation.call("loc")
        conversation.hear(#"{"responseId":"\#(id.text)","responseData":"\#(text)"}"#)
        conversation.hear(#"{"handlerName":"news","data":"\#(text)"}"#)
        let lines = conversation.takeLongLines()
        #expect(lines.map { $0.isNamed("news") } == [false, true] && !lines[1].isNamed("new"))
        for line in lines { conversation.take(line.parsed()) }
        let news = ClientConversation.Event.happened(name: "news", .string(text))
        #expect(conversation.takeEvents() == [.replied(id, command: "loc", .string(text)), news])
        conversation.hear(call("q1", "short"))
        guard case .called(let call)? = conversation.takeEvents().first else { throw Failed() }
        var bounds = ClientConversation.Bounds()
        bounds.lineBytes = 100
        conversation.answer(call.answer(.success(HandlerCall.Answer(.string(text))), bounds: bounds))
        #expect(conversation.said().last?.contains("tooLarge") == true)
    }

    private struct Failed: Error {}
}
