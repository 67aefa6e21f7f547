import Testing

@testable import quickconnect_scripts

@Suite("Messages of the daemon, as a script is given them")
struct MessageListTests {
    private func list(_ messages: String...) -> MessageList {
        var list = MessageList()
        for message in messages { _ = Self.append(message, to: &list) }
        return list
    }

    private static func append(_ message: String, to list: inout MessageList) -> MessageList.Refused? {
        Array(message.utf8).withUnsafeBufferPointer { list.append($0) }
    }

    private static func call(_ number: Int, of caller: String, data: String = "null") -> String {
        #"{"handlerName":"x","data":\#(data),"callbackId":"q\#(number)","command":"x","phase":"business","results":[],"#
            + #""caller":{"uid":1,"user":"\#(caller)"}}"#
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

    @Test func `callers take turns, and replies and events come before their calls`() {
        var messages = list(Self.call(1, of: "ann"), Self.call(2, of: "ann"), Self.call(3, of: "ann"))
        for message in [Self.call(4, of: "bob"), #"{"handlerName":"news","data":1}"#] {
            #expect(Self.append(message, to: &messages) == nil)
        }
        let parts = [
            #"{"handlerName":"news","data":1}"#, Self.call(1, of: "ann"), Self.call(4, of: "bob"),
            Self.call(2, of: "ann"),
            Self.call(3, of: "ann"),
        ]
        #expect(String(decoding: messages.take(), as: UTF8.self) == "[\(parts.joined(separator: ","))]")
    }

    @Test func `a caller that a message only names is not its caller`() {
        let named = #"{"a":1,"caller":{"uid":1,"user":"bob"}}"#
        var messages = list(Self.call(1, of: "ann", data: named), Self.call(2, of: "ann", data: named))
        _ = Self.append(Self.call(3, of: #"}b\"ob{"#), to: &messages)
        _ = Self.append(#"{"handlerName":"news","data":\#(named)}"#, to: &messages)
        let order = String(decoding: messages.take(), as: UTF8.self).split(separator: #""callbackId":""#).map {
            $0.prefix(2)
        }
        #expect(order.dropFirst() == ["q1", "q3", "q2"])
    }

    @Test func `a caller has a share of what waits, and the others have room`() {
        var messages = MessageList()
        let data = "\"\(String(repeating: "x", count: 200_000))\""
        var refused: MessageList.Refused?
        var count = 0
        while refused == nil, count < 1000 {
            count += 1
            refused = Self.append(Self.call(count, of: "ann", data: data), to: &messages)
        }
        #expect(refused?.id == "q\(count)" && count * 200_000 < 8 << 20)
        #expect(Self.append(Self.call(0, of: "bob", data: data), to: &messages) == nil)
        // A turn takes little of it.
        #expect(messages.take().count < 300_000 && !messages.isEmpty)
    }
}
