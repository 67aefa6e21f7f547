import JSON
import QuickConnect
import Testing

@testable import QuickConnectClient

@Suite("A client's conversation: connections, handlers and subscriptions")
struct ConnectionRules {
    private static let lost = CallFailure.connectionLost("gone")

    @Test func `calls wait for a connection, in order`() {
        var conversation = ClientConversation()
        _ = ["one", "two", "three"].map { conversation.call($0) }
        #expect(!conversation.hasOutput && conversation.needsConnection)
        conversation.connected()
        #expect(conversation.said().map { $0.contains("one") || $0.contains("two") || $0.contains("three") }.count == 3)
    }

    @Test func `with the connection calls under way fail, those that wait go out over the next one, none twice`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 2 }
        let ids = (0..<4).map { conversation.call("n\($0)") }
        #expect(conversation.said().count == 2)
        conversation.lost("gone")
        #expect(conversation.takeEvents() == [.failed(ids[0], Self.lost), .failed(ids[1], Self.lost)])
        let made = conversation.call("n4")
        #expect(!conversation.hasOutput)
        conversation.connected()
        #expect(conversation.said().map { $0.contains("n2") || $0.contains("n3") } == [true, true])
        // A reply that belongs to the old connection.
        conversation.reply(ids[0])
        #expect(!conversation.hasEvents && conversation.droppedReplyCount == 1)
        conversation.reply(ids[2])
        #expect(conversation.said().map { $0.contains(made.text) } == [true])
    }

    @Test func `what was handed over and not sent yet is not sent over another connection`() {
        var conversation = ClientConversation.connected()
        let id = conversation.call("rec")
        conversation.lost("gone")
        conversation.connected()
        #expect(conversation.said() == [] && conversation.takeEvents() == [.failed(id, Self.lost)])
    }

    @Test func `half a line of an old connection is not the beginning of a new one's`() {
        var conversation = ClientConversation.connected()
        Array(#"{"handlerName":"#.utf8).withUnsafeBufferPointer { conversation.receive($0) }
        conversation.lost("gone")
        conversation.connected()
        conversation.hear(#"{"handlerName":"news","data":1}"#)
        #expect(conversation.takeEvents() == [.happened(name: "news", 1)])
    }

    @Test func `each connection is told the opening, the handlers, the subscriptions, then what waits`() {
        var conversation = ClientConversation(opening: [("actFor", .value(["ann", ["groups": ["family"]]]))])
        _ = conversation.call("ping")
        conversation.subscribe(to: "accel", options: ["interval": 5])
        conversation.register(handler: "b")
        conversation.register(handler: "a")
        conversation.register(handler: "gone")
        conversation.subscribe(to: "news")
        conversation.remove(handler: "gone")
        conversation.subscribe(to: "accel", options: ["interval": 9])
        var told: [[String]] = []
        for _ in 0..<2 {
            conversation.connected()
            told.append(
                conversation.said().map { line in
                    let message = (try? JSONParser.parse(line))?.objectValue ?? [:]
                    return "\(message["handlerName"]?.stringValue ?? "") \(message["data"]?.text ?? "")"
                }
            )
            conversation.lost("gone")
        }
        let standing = [
            #"actFor ["ann",{"groups":["family"]}]"#, #"registerHandler ["b"]"#, #"registerHandler ["a"]"#,
            #"subscribe ["accel",{"interval":9}]"#, #"subscribe ["news"]"#,
        ]
        #expect(told == [standing + ["ping "], standing])
    }

    @Test func `what stands is told once the daemon has taken it, and is not told again as a failure when it is lost`()
    {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "lamp")
        conversation.register(handler: "lamp")
        conversation.subscribe(to: "news")
        #expect(conversation.said().count == 2)
        conversation.lost("gone")
        #expect(!conversation.hasEvents)
        conversation.connected()
        for line in conversation.said() {
            let id = (try? JSONParser.parse(line))?.objectValue?["callbackId"]?.text ?? ""
            conversation.hear(#"{"responseId":\#(id),"responseData":null}"#)
        }
        #expect(conversation.takeEvents() == [.stands(.handler("lamp")), .stands(.subscription("news"))])
    }

    @Test func `a warning beside what stands is told once`() {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "ping")
        for line in conversation.said() {
            let id = (try? JSONParser.parse(line))?.objectValue?["callbackId"]?.text ?? ""
            conversation.hear(#"{"responseId":\#(id),"responseData":{"warning":"no call comes"}}"#)
        }
        #expect(conversation.takeEvents() == [.stands(.handler("ping"))])
        #expect(conversation.takeWarnings() == ["no call comes"] && conversation.takeWarnings().isEmpty)
    }

    @Test func `what the daemon refuses stands no more`() throws {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "lamp")
        conversation.subscribe(to: "accel")
        for line in conversation.said() {
            let id = try JSONParser.parse(line).objectValue?["callbackId"]?.text ?? ""
            conversation.hear(#"{"responseId":\#(id),"error":{"code":"busy","message":"taken"}}"#)
        }
        let events = conversation.takeEvents()
        #expect(events.map(\.failure?.code) == ["busy", "busy"])
        #expect(conversation.said().map { $0.contains("unsubscribe") } == [true])
        conversation.lost("gone")
        conversation.connected()
        #expect(conversation.said() == [] && !conversation.needsConnection)
    }

    @Test(arguments: ["busy", "overloaded"])
    func `what stood before is said again each second while it is refused for the moment`(code: String) throws {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "lamp", hearsCancel: true)
        conversation.subscribe(to: "news", options: ["last": 3])
        let first = try Self.answer(&conversation)
        conversation.lost("gone")
        conversation.connected()
        let start = ContinuousClock.now
        _ = conversation.takeEvents()
        conversation.advance(to: start)
        #expect(try Self.answer(&conversation, code) == first && conversation.takeEvents() == [])
        #expect(conversation.said() == [] && conversation.nextDeadline == start + .seconds(1))
        conversation.advance(to: start + .milliseconds(999))
        #expect(conversation.said() == [])
        conversation.advance(to: start + .seconds(1))
        #expect(try Self.answer(&conversation, code) == first && conversation.takeEvents() == [])
        conversation.unsubscribe(from: "news")
        #expect(conversation.said().count == 1)
        conversation.advance(to: start + .seconds(2))
        #expect(try Self.answer(&conversation) == [first[0]])
        #expect(conversation.takeEvents() == [.stands(.handler("lamp"))] && conversation.nextDeadline == nil)
    }

    @Test func `what stood before and is not allowed any more is told, and a new connection begins anew`() throws {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "lamp")
        _ = try Self.answer(&conversation)
        conversation.lost("gone")
        conversation.connected()
        _ = try Self.answer(&conversation, "overloaded")
        conversation.lost("gone again")
        conversation.connected()
        conversation.advance(to: .now + .seconds(9))
        _ = conversation.takeEvents()
        #expect(try Self.answer(&conversation, "denied").count == 1)
        #expect(conversation.takeEvents().map(\.failure?.code) == ["denied"] && !conversation.needsConnection)
    }

    @Test func `what was given other options while it is refused is said again once`() throws {
        var conversation = ClientConversation.connected()
        conversation.subscribe(to: "news")
        _ = try Self.answer(&conversation)
        conversation.lost("gone")
        conversation.connected()
        _ = try Self.answer(&conversation, "overloaded")
        conversation.subscribe(to: "news", options: ["last": 3])
        _ = try Self.answer(&conversation, "overloaded")
        conversation.advance(to: .now + .seconds(9))
        #expect(try Self.answer(&conversation) == [#"subscribe ["news",{"last":3}]"#])
    }

    /// Answers all calls that it has to send, and returns them without their ids.
    private static func answer(_ conversation: inout ClientConversation, _ code: String? = nil) throws -> [String] {
        try conversation.said().map { line in
            let message = try #require(try JSONParser.parse(line).objectValue)
            let answer = code.map { #""error":{"code":"\#($0)","message":"not now"}"# } ?? #""responseData":null"#
            conversation.hear(#"{"responseId":\#(message["callbackId"]?.text ?? ""),\#(answer)}"#)
            return "\(message["handlerName"]?.stringValue ?? "") \(message["data"]?.text ?? "")"
        }
    }

    @Test func `registering goes past the calls that wait, and a refused opening is told`() throws {
        var conversation = ClientConversation(
            bounds: {
                var bounds = ClientConversation.Bounds(); bounds.callsUnderWay = 1; return bounds
            }(),
            opening: [("actFor", .value(["ann"]))]
        )
        _ = (0..<3).map { conversation.call("n\($0)") }
        conversation.connected()
        let opening = try #require(conversation.said().first)
        conversation.register(handler: "lamp")
        conversation.subscribe(to: "news")
        conversation.unsubscribe(from: "news")
        #expect(conversation.said().count == 3 && conversation.waitingCount == 2)
        let id = try JSONParser.parse(opening).objectValue?["callbackId"]?.text ?? ""
        conversation.hear(#"{"responseId":\#(id),"error":{"code":"denied","message":"no gateway"}}"#)
        guard case .refused(.opening("actFor"), let failure)? = conversation.takeEvents().first else {
            return #expect(Bool(false))
        }
        #expect(failure.code == "denied")
    }

    // MARK: Handlers

    private static let call =
        #"{"handlerName":"lamp","data":[5],"callbackId":"q1","command":"light","phase":"view","results":[1],"caller":{"uid":0,"user":"root"}}"#

    private func withHandler() -> ClientConversation {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "lamp")
        _ = conversation.said()
        return conversation
    }

    @Test func `a handler's call says who called what, and is answered once`() throws {
        var conversation = withHandler()
        conversation.hear(Self.call)
        let call = try #require(conversation.takeEvents().first?.handlerCall)
        #expect(call.handler == "lamp" && call.data == [5] && call.command == "light" && call.phase == "view")
        #expect(call.results == [1] && call.caller["user"] == "root" && call.error == nil)
        let isFirst = conversation.answer(call, with: .success(.init(9, replyCommand: "showLamp", endsStack: true)))
        let isSecond = conversation.answer(call, with: .success(.init(10)))
        #expect(isFirst && !isSecond)
        #expect(
            conversation.said() == [#"{"responseId":"q1","responseData":9,"handlerName":"showLamp","end":true}"#]
        )
    }

    @Test func `a handler's error has code, message and field`() throws {
        var conversation = withHandler()
        conversation.hear(Self.call)
        let call = try #require(conversation.takeEvents().first?.handlerCall)
        conversation.answer(call, with: .failure(.init(.unavailable, "the bulb is gone", field: "/0")))
        #expect(
            conversation.said() == [
                #"{"responseId":"q1","error":{"code":"unavailable","message":"the bulb is gone","field":"/0"}}"#
            ]
        )
    }

    @Test func `a call of a lost connection is answered over no other one, not even where its id comes again`() throws {
        var conversation = withHandler()
        conversation.hear(Self.call)
        let old = try #require(conversation.takeEvents().first?.handlerCall)
        conversation.lost("gone")
        conversation.answer(old, with: .success(.init(1)))
        conversation.connected()
        _ = conversation.said()
        conversation.hear(Self.call)
        conversation.answer(old, with: .success(.init(1)))
        #expect(!conversation.hasOutput)
        let new = try #require(conversation.takeEvents().first?.handlerCall)
        conversation.answer(new, with: .success(.init(2)))
        #expect(conversation.said() == [#"{"responseId":"q1","responseData":2}"#])
    }

    @Test func `a handler that hears of it is told of calls that nobody waits for, once, also of a lost connection's`()
        throws
    {
        var conversation = ClientConversation.connected()
        conversation.register(handler: "lamp", hearsCancel: true)
        conversation.register(handler: "deaf")
        #expect(conversation.said().map { $0.contains(#"["lamp",{"cancel":true}]"#) } == [true, false])
        var calls: [HandlerCall] = []
        for id in ["q1", "q2", "q3"] {
            conversation.hear(Self.call.replacing("q1", with: id))
            calls.append(try #require(conversation.takeEvents().first?.handlerCall))
        }
        conversation.hear(Self.call.replacing("q1", with: "q4").replacing("lamp", with: "deaf"))
        _ = conversation.takeEvents()
        conversation.answer(calls[0], with: .success(.init(1)))
        _ = conversation.said()
        for id in ["q1", "q2", "q2", "q4", "q9"] { conversation.hear(#"{"handlerName":"cancel","data":["\#(id)"]}"#) }
        conversation.hear(#"{"handlerName":"cancel","data":7}"#, #"{"handlerName":"cancel"}"#)
        #expect(conversation.takeEvents() == [.cancelled(calls[1].number)])
        #expect(!conversation.answer(calls[1], with: .success(.init(2))) && !conversation.hasOutput)
        conversation.lost("gone")
        #expect(conversation.takeEvents() == [.cancelled(calls[2].number)])
        conversation.connected()
        #expect(conversation.said().map { $0.contains(#"["lamp",{"cancel":true}]"#) } == [true, false])
    }

    @Test func `a handler that was taken back is unavailable, and an answer that is too large is an error`() throws {
        var conversation = withHandler()
        conversation.hear(Self.call)
        let call = try #require(conversation.takeEvents().first?.handlerCall)
        conversation.answer(call, with: .success(.init(.string(String(repeating: "x", count: 5 << 20)))))
        let said = try #require(conversation.said().first)
        #expect(said.count < 300 && said.contains(#""code":"tooLarge""#) && said.contains(#""responseId":"q1""#))
        conversation.remove(handler: "lamp")
        #expect(conversation.said().map { $0.contains("removeHandler") } == [true])
        conversation.hear(Self.call.replacing("q1", with: "q2"))
        #expect(conversation.said().map { $0.contains(#""responseId":"q2","error":{"code":"unavailable""#) } == [true])
        #expect(!conversation.hasEvents)
    }

    @Test func `closing fails all that has no reply, and nothing stands`() {
        var conversation = ClientConversation.connected { $0.callsUnderWay = 1 }
        conversation.register(handler: "lamp")
        let ids = (0..<2).map { conversation.call("n\($0)") }
        conversation.close("closed")
        #expect(conversation.takeEvents() == ids.map { .failed($0, .connectionLost("closed")) })
        #expect(!conversation.needsConnection)
    }
}
