import JSON
import Testing

@testable import QuickConnect

@Suite("The bridge form is WebViewJavascriptBridge's messages")
struct BridgeFormTests {
    static func read(_ line: String) -> [IncomingMessage] {
        messages(of: Array(line.utf8))
    }

    static func call(_ line: String) -> Request? {
        if case .call(let request)? = read(line).first { request } else { nil }
    }

    static func error(_ line: String) -> UnreadableMessage? {
        if case .unreadable(let message)? = read(line).first { message } else { nil }
    }

    static func answer(_ line: String) -> (id: String?, result: Result<HandlerAnswer, HandlerFailure>)? {
        switch read(line).first {
        case .answer(let id, .answer(let answer))?: (id, .success(answer))
        case .answer(let id, .failure(let failure))?: (id, .failure(failure))
        default: nil
        }
    }

    /// Whether a message is that call, without parameters.
    private static func isCall(_ message: IncomingMessage, _ command: String, id: String) -> Bool {
        guard case .call(let request) = message else { return false }
        return request.command == command && request.id == id && request.form == .bridge
            && request.parameters == [] && request.message == nil
    }

    @Test(
        "data becomes the parameters: none, an array's items, or one value; a string is not parsed again",
        arguments: [
            ("", []), (#","data":null"#, []), (#","data":[]"#, []), (#","data":[1,"x"]"#, [1, "x"]),
            (#","data":-1"#, [-1]),
            (#","data":"hello""#, ["hello"]), (#","data":"""#, [""]), (#","data":"[1]""#, ["[1]"]),
            (#","data":"null""#, ["null"]), (#","data":{"a":1}"#, [["a": 1]]), (#","data":[[1]]"#, [[1]]),
            (#","data":false"#, [false]), (#","data":[null]"#, [nil]),
        ] as [(String, [JSONValue])]
    )
    func parameters(data: String, parameters: [JSONValue]) {
        let request = Self.call(#"{"handlerName":"a"\#(data)}"#)
        #expect(request?.parameters == parameters)
        #expect(request?.form == .bridge)
        #expect(request?.id == nil)
    }

    @Test("Unknown keys are ignored, in any order and with white space")
    func unknownKeys() {
        let request = Self.call(#"{ "x" : {}, "callbackId" : "cb_1", "data" : 1, "handlerName" : "loc", "y" : [] }  "#)
        #expect(request?.command == "loc")
        #expect(request?.id == "cb_1")
        #expect(request?.form == .bridge)
        #expect(request?.parameters == [1])
        #expect(request?.message?.value == 1)
    }

    @Test("callbackId is a string of at most 128 bytes")
    func callbackId() {
        let longest = String(repeating: "é", count: 64)
        #expect(Self.call(#"{"handlerName":"a","callbackId":"\#(longest)"}"#)?.id == longest)
        #expect(Self.call(#"{"handlerName":"a","callbackId":""}"#)?.id == "")
        for id in [#""x\#(longest)""#, "1", "[]", "{}", "true"] {
            let error = Self.error(#"{"handlerName":"a","callbackId":\#(id)}"#)
            #expect(error?.code == .badRequest)
            #expect(error?.id == nil)
            #expect(error?.command == "a")
        }
    }

    @Test func `a member that is null is as absent`() {
        let call = Self.call(#"{"handlerName":"a","callbackId":"1","responseId":null,"error":null}"#)
        #expect(call?.command == "a" && call?.id == "1")
        let silent = Self.call(#"{"handlerName":"a","callbackId":null}"#)
        #expect(silent?.command == "a" && silent?.hasID == false)
    }

    @Test(
        "A line that is not JSON or not such a message is badRequest",
        arguments: [
            "{", "{]", "[", "{\"handlerName\":\"a\"} x", "{}", #"{"handlerName":""}"#, #"{"handlerName":1}"#,
            #"{"handlerName":null}"#, #"{"data":1}"#, #"{"handlername":"a"}"#, "[1]", "[null]", "[[]]", #"["a"]"#,
            #"[[{"handlerName":"a"}]]"#,
        ]
    )
    func refused(line: String) {
        #expect(Self.read(line).count == 1)
        #expect(Self.error(line)?.code == .badRequest)
    }

    @Test(arguments: [#"{"callbackId":"7"}"#, #"{"handlerName":"","callbackId":"7"}"#])
    func `who gives no name is told that a command has one`(line: String) {
        #expect(Self.error(line)?.message.hasPrefix("a command has a name: ") == true)
    }

    @Test("An error has the responseId where it could be read")
    func errorKeepsId() {
        #expect(Self.error(#"{"callbackId":"7"}"#)?.id == "7")
        #expect(Self.error(#"{"handlerName":3,"callbackId":"7"}"#)?.id == "7")
        #expect(Self.error(#"{"handlerName":"a","callbackId":"7","data":1e999}"#)?.id == "7")
        #expect(Self.error(#"{"data":["\ud800"],"handlerName":"a","callbackId":"7"}"#)?.id == "7")
        #expect(Self.error(#"{"handlerName":"a","callbackId":"\ud800"}"#)?.id == nil)
        #expect(
            Self.error(#"{"handlerName":"a","callbackId":"\ud800"}"#)?.message
                == "the message has half a surrogate pair at byte 33"
        )
    }

    @Test("A line of 512 levels is read, one of 513 is tooLarge, with the responseId")
    func depth() {
        func line(_ levels: Int) -> String {
            let data = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return #"{"handlerName":"a","data":\#(data),"callbackId":"7"}"#
        }
        #expect(Self.call(line(511))?.id == "7")
        let error = Self.error(line(512))
        #expect(error?.code == .tooLarge)
        #expect(error?.id == "7")
        #expect(Self.error(line(100_000))?.code == .tooLarge)
        #expect(Self.error(String(repeating: "[", count: 100_000))?.code == .tooLarge)
    }

    // MARK: Batches

    @Test("An array is a batch: a bad member is an error, the others run, in their order")
    func batch() throws {
        let messages = Self.read(
            """
            [{"handlerName":"a","callbackId":"1"},7,{"handlerName":"b","data":1e999,"callbackId":"2"},\
            {"handlerName":"c","callbackId":"3"},{"responseId":"q1"}]
            """
        )
        #expect(messages.count == 5)
        #expect(Self.isCall(messages[0], "a", id: "1"))
        guard case .unreadable(let second) = messages[1], case .unreadable(let third) = messages[2] else {
            Issue.record("the second and third are errors")
            return
        }
        #expect(second.code == .badRequest && second.id == nil)
        #expect(third.code == .badRequest && third.id == "2" && third.command == "b")
        #expect(Self.isCall(messages[3], "c", id: "3"))
        guard case .answer(let id, .answer(let answer)) = messages[4] else {
            Issue.record("the last one is an answer")
            return
        }
        #expect(id == "q1" && answer == HandlerAnswer(.null))
    }

    @Test("An empty batch is badRequest", arguments: ["[]", "[ ]"])
    func emptyBatch(line: String) {
        #expect(Self.error(line)?.message == "the batch is empty")
    }

    // MARK: Answers

    @Test("A message with responseId is an answer, whatever else it holds")
    func answers() {
        let lines = [
            #"{"responseId":"q1","responseData":1}"#, #"{"responseId":"q1","handlerName":"a","callbackId":"7"}"#,
            #"{"responseId":"q1","data":1}"#, #"{"responseId":"q1","error":{}}"#,
            #"{"responseId":"q1","data":"\ud800"}"#,
        ]
        for line in lines { #expect(Self.answer(line)?.id == "q1") }
        #expect(Self.answer(#"{"responseId":7,"handlerName":"a"}"#)?.result != nil)
        #expect(Self.answer(#"{"error":{"code":"badRequest"}}"#)?.result != nil)
    }

    @Test("An answer holds responseData, null where it has none, and may end the stack or name a command")
    func answerValues() throws {
        let answer = try #require(Self.answer(#"{"responseId":"q1","responseData":[1],"end":true,"handlerName":"b"}"#))
        #expect(try answer.result.get() == HandlerAnswer(.value([1]), replyCommand: "b", ends: true))
        let plain = try #require(Self.answer(#"{"responseId":"q1","handlerName":"","end":1,"error":null}"#))
        #expect(try plain.result.get() == HandlerAnswer(.null))
    }

    @Test("What is half a character in an answer is U+FFFD, and the rest stays")
    func halfPairs() throws {
        let data = #"["a\ud83d","\udc4d\ud83d\\\ud83d\udc4d\\ud800","\ud83d\ud83d\udc4d\u00e9\ud83d\n"]"#
        let answer = try #require(Self.answer(#"{"responseId":"q1","responseData":\#(data)}"#))
        let expected: JSONValue = ["a\u{fffd}", "\u{fffd}\u{fffd}\\👍\\ud800", "\u{fffd}👍é\u{fffd}\n"]
        #expect(try answer.result.get() == HandlerAnswer(.value(expected)))
        let failure = try #require(Self.answer(#"{"responseId":"q1","error":{"code":"x","message":"\ud83d!"}}"#))
        #expect { try failure.result.get() } throws: { ($0 as? HandlerFailure)?.message == "\u{fffd}!" }
    }

    @Test(
        "An answer that cannot be kept fails the call that waits for it",
        arguments: [
            (#"{"responseId":"q1","responseData":[1e999,"\ud800"]}"#, CommandError.Code.scriptFailed),
            (
                #"{"responseId":"q1","responseData":"# + String(repeating: "[", count: 600)
                    + String(repeating: "]", count: 600) + "}", .tooLarge
            ),
        ]
    )
    func badAnswers(line: String, code: CommandError.Code) throws {
        let answer = try #require(Self.answer(line))
        #expect(answer.id == "q1")
        #expect { try answer.result.get() } throws: { ($0 as? HandlerFailure)?.code == code }
    }
}
