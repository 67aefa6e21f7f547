import JSON
import QuickConnect
import Testing

@testable import QuickConnectClient

@Suite("A client's conversation: calls")
struct CallRules {
    @Test func `each call has an id of its own, and its reply is told with the command that it goes under`() {
        var conversation = ClientConversation.connected()
        let loc = conversation.call("loc")
        let ping = conversation.call("ping", .value([1, "x"]))
        #expect(loc != ping)
        #expect(
            conversation.said() == [
                #"{"handlerName":"loc","callbackId":"\#(loc.text)"}"#,
                #"{"handlerName":"ping","data":[1,"x"],"callbackId":"\#(ping.text)"}"#,
            ]
        )
        conversation.hear(#"{"responseId":"\#(loc.text)","responseData":[51.5],"handlerName":"showLoc"}"#)
        conversation.hear(#"{"responseId":"\#(ping.text)","responseData":null}"#)
        #expect(
            conversation.takeEvents() == [
                .replied(loc, command: "showLoc", [51.5]), .replied(ping, command: "ping", .null),
            ]
        )
        #expect(conversation.callCount == 0)
    }

    @Test func `the URL form says the same`() {
        var conversation = ClientConversation(form: .url)
        conversation.connected()
        let id = conversation.call("play it", .text("a&b=c"))
        let other = conversation.call("x", .value(["a": 1]))
        #expect(
            conversation.said() == [
                "call?cmd=play%20it&id=\(id.text)&msg=a%26b%3Dc", "call?cmd=x&id=\(other.text)&msg=%7B%22a%22%3A1%7D",
            ]
        )
        conversation.hear("handleJSONRequest?cmd=showPlay&msg=7&id=\(id.text)")
        conversation.hear("handleJSONRequest?cmd=error&msg=%7B%22code%22%3A%22busy%22%7D&id=\(other.text)")
        let events = conversation.takeEvents()
        #expect(events.first == .replied(id, command: "showPlay", 7))
        #expect(events.last?.id == other && events.last?.failure?.code == "busy")
    }

    @Test(arguments: [
        (CallMessage.none, ""), (.value(.null), #","data":null"#), (.text(""), ""), (.text("undefined"), ""),
        (.text("-1"), #","data":-1"#), (.text("hello"), #","data":"hello""#), (.text("[1,"), #","data":"[1,""#),
        (.text(#"{"a": [1]}"#), #","data":{"a":[1]}"#),
    ])
    func `a text means the same in the bridge form as in the URL form`(message: CallMessage, data: String) {
        var conversation = ClientConversation.connected()
        let id = conversation.call("x", message)
        #expect(conversation.said() == [#"{"handlerName":"x"\#(data),"callbackId":"\#(id.text)"}"#])
    }

    @Test func `a code has one status, in a browser as in a window`() {
        let statuses = ["unsupported", "invalid", "unavailable", "nonsense"].map(CallFailure.httpStatus)
        #expect(statuses == [501, 422, 503, 500])
    }

    @Test func `an error reply has its code, its message and the fields that do not fit`() throws {
        var conversation = ClientConversation.connected()
        let id = conversation.call("play")
        let fields = #"[{"field":"/0","expected":"a string"},{"field":"/1","expected":"a number"}]"#
        conversation.hear(
            #"{"responseId":"\#(id.text)","error":{"cmd":"play","code":"invalid","message":"no","fields":\#(fields)}}"#
        )
        let failure = try #require(conversation.takeEvents().first?.failure)
        #expect(failure.code == "invalid" && failure.message == "no" && "\(failure)" == "invalid: no")
        #expect(
            failure.fields == [
                FieldProblem(field: "/0", expected: "a string"), FieldProblem(field: "/1", expected: "a number"),
            ]
        )
    }

    @Test func `calls beyond what may be under way wait, and go out in order as replies make room`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 2 }
        let ids = (0..<5).map { conversation.call("n\($0)") }
        #expect(conversation.said().count == 2 && conversation.waitingCount == 3)
        conversation.reply(ids[1])
        #expect(conversation.said().map { $0.contains("n2") } == [true])
        conversation.reply(ids[0])
        conversation.reply(ids[2])
        #expect(conversation.said().map { $0.prefix(19) } == [#"{"handlerName":"n3""#, #"{"handlerName":"n4""#])
        #expect(conversation.takeEvents().map(\.id) == [ids[1], ids[0], ids[2]])
    }

    @Test func `more than the bytes that may wait is overloaded, and goes nowhere`() {
        var conversation = ClientConversation.connected {
            $0.callsUnderWay = 1
            $0.waitingBytes = 3000
        }
        let text = JSONValue.string(String(repeating: "x", count: 900))
        let ids = (0..<3).map { _ in conversation.call("x", .value(text)) }
        #expect(conversation.said().count == 1)
        #expect(conversation.takeEvents().map { "\($0.id == ids[2]) \($0.failure?.code ?? "")" } == ["true overloaded"])
        conversation.reply(ids[0])
        conversation.reply(ids[1])
        #expect(conversation.said().count == 1)
        // There is room again.
        let late = conversation.call("x", .value(text))
        #expect(conversation.said().count == 1 && conversation.takeEvents().map(\.id) == [ids[0], ids[1]])
        conversation.reply(late)
        #expect(conversation.takeEvents().map(\.id) == [late])
    }

    @Test func `what the daemon would not read is tooLarge, and goes nowhere`() {
        var conversation = ClientConversation.connected { $0.lineBytes = 1000 }
        let long = conversation.call("x", .value(.string(String(repeating: "x", count: 1000))))
        let deep = conversation.call("x", .value((0..<510).reduce(.null) { value, _ in [value] }))
        let deeper = conversation.call("x", .text(String(repeating: "[", count: 300)))
        #expect(conversation.said().count == 1)
        let events = conversation.takeEvents()
        #expect(events.map(\.failure?.code) == ["tooLarge", "tooLarge"] && events.map(\.id) == [long, deep])
        conversation.reply(deeper)
        #expect(conversation.takeEvents().map(\.id) == [deeper])
    }

    // MARK: Deadlines, and giving up

    @Test func `a call under way that is late fails once, the daemon ends it, and its reply comes too late`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 1 }
        let start = ContinuousClock.now
        let id = conversation.call("loc", before: start + .seconds(1))
        let next = conversation.call("ping")
        _ = conversation.said()
        #expect(conversation.nextDeadline == start + .seconds(1))
        conversation.advance(to: start + .milliseconds(999))
        #expect(!conversation.hasEvents && !conversation.hasOutput)
        conversation.advance(to: start + .seconds(1))
        conversation.advance(to: start + .seconds(2))
        #expect(conversation.takeEvents() == [.failed(id, .timedOut)])
        // It still takes its place at the daemon, which counts it.
        let said = conversation.said()
        #expect(said.count == 1 && said[0].hasPrefix(#"{"handlerName":"cancel","data":["\#(id.text)"]"#))
        conversation.hear(#"{"responseId":"\#(id.text)","error":{"code":"cancelled","message":"m"}}"#)
        #expect(conversation.said().map { $0.contains("ping") } == [true])
        conversation.reply(next)
        #expect(conversation.takeEvents() == [.replied(next, command: "ping", .null)])
        #expect(conversation.droppedReplyCount == 0 && conversation.nextDeadline == nil)
    }

    @Test func `a call that is late before it was sent goes nowhere`() {
        var conversation = ClientConversation()
        let start = ContinuousClock.now
        let id = conversation.call("loc", before: start)
        let other = conversation.call("ping", before: start + .seconds(9))
        conversation.advance(to: start)
        #expect(conversation.takeEvents() == [.failed(id, .timedOut)])
        conversation.connected()
        #expect(conversation.said().map { $0.contains(other.text) } == [true])
    }

    @Test func `a call is given up once, under way or not, and nothing else comes for it`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 1 }
        let sent = conversation.call("loc")
        let waiting = conversation.call("rec")
        _ = conversation.said()
        for id in [waiting, sent, sent, waiting] { conversation.cancel(id) }
        #expect(conversation.takeEvents() == [.failed(waiting, .cancelled), .failed(sent, .cancelled)])
        #expect(conversation.said().map { $0.contains(#""cancel","data":["\#(sent.text)"]"#) } == [true])
        conversation.reply(sent)
        conversation.cancel(sent)
        #expect(!conversation.hasEvents && !conversation.hasOutput && conversation.waitingCount == 0)
    }

    @Test func `calls that are made and given up for a year are not kept`() {
        var conversation = ClientConversation()
        let start = ContinuousClock.now
        for number in 0..<10_000 {
            conversation.call("x", before: start + .seconds(number))
            if number % 2 == 0 { conversation.advance(to: start + .seconds(number)) }
        }
        conversation.advance(to: start + .seconds(10_000))
        #expect(conversation.callCount == 0 && conversation.waitingCount == 0 && conversation.nextDeadline == nil)
    }

    // MARK: What the daemon says wrong

    @Test(arguments: ["c9", "q1", "", "c", "c1x", "C1", "c99999999999999999999", "r1"])
    func `a reply to no call is dropped and counted`(id: String) {
        var conversation = ClientConversation.connected()
        let call = conversation.call("ping")
        conversation.hear(#"{"responseId":"\#(id)","responseData":null}"#)
        #expect(!conversation.hasEvents && conversation.droppedReplyCount == 1)
        conversation.reply(call)
        conversation.reply(call)
        #expect(conversation.takeEvents().map(\.id) == [call] && conversation.droppedReplyCount == 2)
    }

    @Test func `a reply to a call that was not sent yet is none`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 1 }
        _ = conversation.call("one")
        let waiting = conversation.call("two")
        conversation.reply(waiting)
        #expect(!conversation.hasEvents && conversation.waitingCount == 1)
    }

    @Test(arguments: [
        "{", "x", #"{"a":1}"#, "[]", "handleJSONRequest?cmd", "call?cmd=ping", "\u{0}", #"{"handlerName":7}"#,
    ])
    func `garbage is told, and the conversation goes on`(line: String) {
        var conversation = ClientConversation.connected()
        let id = conversation.call("ping")
        conversation.hear(line, "")
        guard case .fault(.unreadable)? = conversation.takeEvents().first else {
            return #expect(Bool(false), "\(line)")
        }
        conversation.reply(id)
        #expect(conversation.takeEvents().map(\.id) == [id])
    }

    @Test func `an error that answers no call is told`() {
        var conversation = ClientConversation.connected()
        conversation.hear(
            #"{"error":{"code":"overloaded","message":"full"}}"#,
            "handleJSONRequest?cmd=error&msg=%7B%22code%22%3A%22denied%22%7D"
        )
        let codes = conversation.takeEvents().map { event in
            if case .fault(.told(let error)) = event { error.code } else { "" }
        }
        #expect(codes == ["overloaded", "denied"])
    }

    @Test func `a reply that cannot be read, or is too long, fails its call`() {
        var conversation = ClientConversation.connected { $0.receivedLineBytes = 100 }
        let ids = (0..<3).map { _ in conversation.call("x") }
        conversation.hear(
            #"{"responseId":"\#(ids[0].text)","responseData":[1,}"#,
            #"{"responseId":"\#(ids[1].text)","responseData":"\#(String(repeating: "x", count: 200))"}"#,
            #"{"responseId":"\#(ids[2].text)","responseData":1}"#
        )
        let events = conversation.takeEvents()
        #expect(events.map(\.id) == ids)
        #expect(events.map(\.failure?.code) == ["badRequest", "badRequest", nil])
        conversation.hear(String(repeating: "y", count: 200))
        #expect(conversation.takeEvents().count == 1)
    }

    @Test func `a line may come in any pieces`() {
        var conversation = ClientConversation.connected()
        let id = conversation.call("x")
        for byte in #"{"responseId":"\#(id.text)","responseData":"é"}"#.utf8 + [0x0D, 0x0A] {
            [byte].withUnsafeBufferPointer { conversation.receive($0) }
        }
        #expect(conversation.takeEvents() == [.replied(id, command: "x", "é")])
    }
}
