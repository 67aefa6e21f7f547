import Testing

@testable import QuickConnectClient

@Suite("A client's conversation: a program that writes its own lines")
struct OwnLinesRules {
    private func call(_ id: String) -> String { #"{"handlerName":"x","callbackId":"\#(id)"}"# }

    @Test func `lines go out as they are, and messages come as they are`() {
        var conversation = ClientConversation.connected()
        let answer = #"{"responseId":"q1","responseData":{"callbackId":"c7"}}"#
        conversation.send(call("c1"), answer, call("r2"))
        #expect(conversation.said() == [call("c1"), answer, call("r2")])
        let event = #"{"handlerName":"news","data":1}"#
        let handlerCall = #"{"handlerName":"lamp","data":1,"callbackId":"q2"}"#
        let reply = #"{"responseId":"c1","responseData":null}"#
        let odd = #"{ "responseId" : "r2", "responseData": 1 }"#
        #expect(conversation.pass(event, handlerCall, reply, odd) == [event, handlerCall, reply, odd])
        #expect(
            conversation.pass(reply, odd) == [] && conversation.droppedReplyCount == 2 && conversation.callCount == 0
        )
    }

    @Test func `what is no message is told, and not handed on`() {
        var conversation = ClientConversation.connected()
        #expect(conversation.pass("no message", "", "handleJSONRequest?cmd=news&msg=1", "{", #"{"error":{}}"#) == [])
        #expect(conversation.takeEvents().count == 3)
    }

    @Test func `calls in order wait for their turn, those ahead do not, uncounted ones come behind`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 1 }
        conversation.send(call("c1"), call("c2"), call("s3"), call("r4"))
        #expect(conversation.said() == [call("c1"), call("r4")])
        _ = conversation.pass(#"{"responseId":"c1","responseData":null}"#)
        // The uncounted one needs no place.
        #expect(conversation.said() == [call("c2"), call("s3")])
        conversation.send(call("s5"), call("c6"))
        #expect(conversation.said() == [call("s5")])
    }

    @Test func `what a new connection is told comes first, then what waits, and what goes ahead is found behind it`() {
        var conversation = ClientConversation(
            bounds: {
                var bounds = ClientConversation.Bounds(); bounds.callsUnderWay = 1; return bounds
            }()
        )
        conversation.send(call("c1"), call("c2"), call("r3"))
        conversation.connected(saying: Array("\(call("r4"))\n".utf8))
        #expect(conversation.said() == [call("r4"), call("c1"), call("r3")])
        conversation.lost("gone")
        #expect(conversation.takeEvents().map { $0.id?.text } == ["c1", "r3", "r4"])
        conversation.connected()
        #expect(conversation.said() == [call("c2")])
    }

    @Test func `a call that is too large or one too many fails, an answer that is too large becomes an error`() {
        var conversation = ClientConversation.connected {
            $0.lineBytes = 700
            $0.waitingBytes = 2 * 512 + 100
        }
        let long = String(repeating: "x", count: 700)
        conversation.send(#"{"handlerName":"x","data":"\#(long)","callbackId":"c1"}"#)
        conversation.send(call("c2"), call("c3"), call("c4"))
        conversation.send(#"{"responseId":"q1","responseData":"\#(long)"}"#)
        conversation.send(#"{"responseId":"q2","responseData":\#(String(repeating: "[", count: 600))}"#)
        #expect(
            conversation.takeEvents().map { "\($0.id?.text ?? "") \($0.failure?.code ?? "")" } == [
                "c1 tooLarge", "c4 overloaded",
            ]
        )
        let said = conversation.said()
        #expect(said.count == 4 && said[2].contains(#"{"responseId":"q1","error":{"code":"tooLarge""#))
        #expect(said[3].contains(#"{"responseId":"q2","error":{"code":"tooLarge""#))
    }

    @Test func `answers without a connection have nobody who waits for them`() {
        var conversation = ClientConversation()
        conversation.send(#"{"responseId":"q1","responseData":1}"#)
        conversation.connected()
        #expect(!conversation.hasOutput)
    }

    @Test func `an id in use is not used again`() {
        var conversation = ClientConversation.connected()
        conversation.send(call("c1"), call("c1"))
        #expect(conversation.said().count == 1 && conversation.takeEvents().count == 1)
        #expect(conversation.call("x").number == 2)
    }
}
