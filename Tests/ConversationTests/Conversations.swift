import QuickConnect
import TestRig
import Testing

/// Where a conversation takes place.
enum Place: String, CaseIterable, Sendable {
    case inProcess = "in-process"
    case overTheSocket = "over the socket"

    /// Runs a conversation of clients made by `makeTalker`.
    func run(_ body: @escaping @Sendable (_ makeTalker: @Sendable () async throws -> any Talker) async throws -> Void)
        async throws
    {
        switch self {
        case .inProcess:
            try await InProcessDaemon().run { daemon in try await body { daemon.talker() } }
        case .overTheSocket:
            let daemon = try await DaemonProcess()
            try await body { try daemon.talker() }
            #expect(try await daemon.stop() == .status(0))
        }
    }
}

@Suite("The same conversation, in-process and over the socket")
struct Conversations {
    @Test("10,000 calls sent at once are answered in their order", arguments: Place.allCases)
    func pipelining(place: Place) async throws {
        try await place.run { makeTalker in
            let talker = try await makeTalker()
            for batch in 0..<20 {
                for index in 0..<500 {
                    // Every third call makes a stack of its own; their replies must stay in order with the rest.
                    let id = batch * 500 + index
                    try await talker.send(id % 3 == 0 ? "call?cmd=hello&id=\(id)" : "call?cmd=ping&id=\(id)")
                }
                for index in 0..<500 { #expect(try await talker.nextReply()?.id == "\(batch * 500 + index)") }
            }
        }
    }

    @Test(
        "300 calls and then the end of input give exactly 300 replies, then the daemon closes",
        arguments: Place.allCases
    )
    func halfClose(place: Place) async throws {
        try await place.run { makeTalker in
            let talker = try await makeTalker()
            for id in 0..<300 {
                try await talker.send(id % 2 == 0 ? "call?cmd=ping&id=\(id)" : "call?cmd=playSound&msg=999&id=\(id)")
            }
            try await talker.endInput()
            let ids = try await talker.rest().compactMap { URLReply(Array($0.utf8))?.id }
            #expect(ids.count == 300)
            #expect(Set(ids).count == 300)
        }
    }

    @Test("Two clients at once get their own replies and each other's posts", arguments: Place.allCases)
    func twoClients(place: Place) async throws {
        try await place.run { makeTalker in
            let (first, second) = (try await makeTalker(), try await makeTalker())
            #expect(
                try await first.ask(#"{"handlerName":"subscribe","data":["door"],"callbackId":"s"}"#)
                    == #"{"responseId":"s","responseData":null}"#
            )
            #expect(
                try await second.ask("call?cmd=subscribe&msg=door&id=s")
                    == "handleJSONRequest?cmd=subscribe&msg=null&id=s"
            )
            try await second.send("call?cmd=post&msg=%5B%22door%22%2C%7B%22open%22%3Atrue%7D%5D")
            #expect(try await first.next() == #"{"handlerName":"door","data":{"open":true}}"#)
            #expect(try await second.next() == "handleJSONRequest?cmd=door&msg=%7B%22open%22%3Atrue%7D")
            #expect(try await first.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        }
    }

    @Test("A batch is answered line by line, bad members by errors", arguments: Place.allCases)
    func batch(place: Place) async throws {
        try await place.run { makeTalker in
            let talker = try await makeTalker()
            try await talker.send(
                #"[{"handlerName":"ping","callbackId":"a"},7,{"handlerName":"ping","callbackId":"b"}]"#
            )
            #expect(try await talker.next() == #"{"responseId":"a","responseData":null}"#)
            #expect(try await talker.nextMessage()?["error"]?.objectValue?["code"] == "badRequest")
            #expect(try await talker.next() == #"{"responseId":"b","responseData":null}"#)
        }
    }

    @Test("A handler is a command, and gets what its caller sent", arguments: Place.allCases)
    func handler(place: Place) async throws {
        try await place.run { makeTalker in
            let (script, page) = (try await makeTalker(), try await makeTalker())
            _ = try await script.ask("call?cmd=registerHandler&msg=brighten&id=r")
            try await page.send(#"{"handlerName":"brighten","data":{"by":3},"callbackId":"c"}"#)
            let call = try #require(try await script.nextMessage())
            #expect(call["handlerName"] == "brighten" && call["phase"] == "business" && call["command"] == "brighten")
            #expect(call["data"] == ["by": 3])
            let id = try #require(call["callbackId"]?.stringValue)
            try await script.send(#"{"responseId":"\#(id)","responseData":[42]}"#)
            #expect(try await page.next() == #"{"responseId":"c","responseData":[42]}"#)
        }
    }

    @Test(
        "A handler that goes away with calls under way fails them, and the next is unknown",
        arguments: Place.allCases
    )
    func handlerGoes(place: Place) async throws {
        try await place.run { makeTalker in
            let (script, page) = (try await makeTalker(), try await makeTalker())
            _ = try await script.ask("call?cmd=registerHandler&msg=brighten&id=r")
            for id in 0..<20 { try await page.send("call?cmd=brighten&id=\(id)") }
            for _ in 0..<20 { #expect(try await script.nextMessage()?["handlerName"] == "brighten") }
            await script.close()
            var ids: Set<String> = []
            for _ in 0..<20 {
                let reply = try await page.nextReply()
                #expect(reply?.code == "scriptFailed")
                if let id = reply?.id { ids.insert(id) }
            }
            #expect(ids.count == 20)
            try await page.send("call?cmd=brighten&id=x")
            #expect(try await page.nextReply()?.code == "unknownCommand")
        }
    }

    @Test("cancel ends the waiting calls with that id, and no others", arguments: Place.allCases)
    func cancel(place: Place) async throws {
        try await place.run { makeTalker in
            let (script, page) = (try await makeTalker(), try await makeTalker())
            _ = try await script.ask("call?cmd=registerHandler&msg=slow&id=r")
            try await page.send("call?cmd=slow&id=1")
            try await page.send("call?cmd=slow&id=2")
            let first = try #require(try await script.nextMessage()?["callbackId"]?.stringValue)
            let second = try #require(try await script.nextMessage()?["callbackId"]?.stringValue)
            try await page.send("call?cmd=cancel&msg=1")
            let cancelled = try await page.nextReply()
            #expect(cancelled?.id == "1" && cancelled?.code == "cancelled")
            // The first answer comes too late for its caller; the other one answers nothing, and is counted.
            try await script.send(#"{"responseId":"\#(first)","responseData":1}"#)
            try await script.send(#"{"responseId":"nothing","responseData":1}"#)
            try await script.send(#"{"responseId":"\#(second)","responseData":2}"#)
            #expect(try await page.next() == "handleJSONRequest?cmd=slow&msg=2&id=2")
            try await page.send("call?cmd=state&id=s")
            let dropped = try await page.nextReply()?.value.objectValue?["droppedAnswers"]?.integerValue
            #expect(dropped ?? 0 >= 1)
        }
    }

    @Test("Errors name what is wrong, and lose nothing behind them", arguments: Place.allCases)
    func errors(place: Place) async throws {
        try await place.run { makeTalker in
            let talker = try await makeTalker()
            let wrong = [
                ("nonsense", "badRequest"), ("call?cmd=ping&cmd=ping&id=1", "badRequest"),
                ("call?cmd=%zz", "badRequest"),
                ("call?cmd=pingg&id=1", "unknownCommand"), ("call?cmd=ping&msg=1&id=1", "invalid"),
                ("call?cmd=subscribe&msg=accel&id=1", "unsupported"), ("call?cmd=post&msg=accel&id=1", "denied"),
                ("call?cmd=playSound&msg=-1&id=1", "unsupported"), ("call?cmd=removeHandler&msg=x&id=1", "notFound"),
            ]
            for (line, code) in wrong {
                try await talker.send(line)
                #expect(try await talker.nextReply()?.code == code, "\(line)")
            }
            #expect(try await talker.ask("call?cmd=ping&id=9") == "handleJSONRequest?cmd=ping&msg=null&id=9")
        }
    }
}
