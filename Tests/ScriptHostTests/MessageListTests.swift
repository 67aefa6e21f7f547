import Testing

@testable import ScriptHost

@Suite("Messages of the daemon, as a script is given them")
struct MessageListTests {
    private func list(_ messages: String...) -> MessageList {
        var list = MessageList()
        for message in messages { list.append(Array(message.utf8)) }
        return list
    }

    private func text(_ list: MessageList) -> String {
        var list = list
        return String(decoding: list.take(), as: UTF8.self)
    }

    @Test func `the script is given an array of the messages, once`() {
        var messages = list(#"{"a":1}"#, #"{"b":[{}]}"#, "{}")
        #expect(String(decoding: messages.take(), as: UTF8.self) == #"[{"a":1},{"b":[{}]},{}]"#)
        #expect(messages.isEmpty && messages.take().isEmpty)
        #expect(text(list(#"{"a":1}"#)) == #"[{"a":1}]"#)
    }

    @Test func `calls that came over a lost connection are forgotten, replies and events are not`() {
        var messages = list(
            #"{"handlerName":"x","callbackId":"q1"}"#,
            #"{"responseId":"c1","responseData":1}"#,
            #"{"handlerName":"news","data":2}"#
        )
        messages.forgetCalls()
        #expect(text(messages) == #"[{"responseId":"c1","responseData":1},{"handlerName":"news","data":2}]"#)
        var none = list()
        none.forgetCalls()
        #expect(none.isEmpty)
    }
}
