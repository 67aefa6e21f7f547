import Concurrency
import JSON
import QuickConnect
import Testing

extension StackRulesTests {
    // MARK: Handlers

    /// A daemon with the shipped commands and what `map` adds, and a client that has registered `brighten`.
    private func withHandler(
        _ map: (inout TestMappings) -> Void,
        test: (TestDaemon, _ handler: TestClient) async throws -> Void
    ) async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            map(&mappings)
        }) { daemon in
            let handler = daemon.connect(uid: 1001)
            handler.send(#"{"handlerName":"registerHandler","data":["brighten"],"callbackId":"r"}"#)
            #expect(await handler.next().hasPrefix(#"{"responseId":"r","responseData":"#))
            try await test(daemon, handler)
        }
    }

    @Test("A handler gets a bridge caller's data or a URL caller's parameters")
    func handlerCall() async throws {
        try await withHandler({ $0.map("lamp", .bco { _ in .result("on") }, .script("brighten", .business)) }) {
            daemon,
            handler in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","data":{"level":5},"callbackId":"1"}"#)
            #expect(
                await handler.next() == """
                    {"handlerName":"brighten","data":{"level":5},"callbackId":"q1","command":"lamp",\
                    "phase":"business","results":["on"],"caller":{"uid":1000,"user":"alice"}}
                    """
            )
            handler.send(#"{"responseId":"q1","responseData":6}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":6}"#)

            client.send("call?cmd=lamp&msg=5&id=2")
            #expect(await handler.next().hasPrefix(#"{"handlerName":"brighten","data":[5],"callbackId":"q2","#))
            handler.send(#"{"responseId":"q2"}"#)
            #expect(await client.next() == "handleJSONRequest?cmd=lamp&msg=null&id=2")

            client.send(#"{"handlerName":"lamp","callbackId":"3"}"#)
            #expect(await handler.next().hasPrefix(#"{"handlerName":"brighten","data":null,"callbackId":"q3","#))
            handler.send(#"{"responseId":"q3","responseData":null}"#)
            #expect(await client.next() == #"{"responseId":"3","responseData":null}"#)
        }
    }

    @Test("In the view phase a handler's answer is the reply, null is none")
    func handlerInView() async throws {
        try await withHandler({
            $0.map("lamp", .bco { _ in .result("result") }, .script("brighten", .view))
        }) { daemon, handler in
            let client = daemon.connect()
            let answers = [
                (#""responseData":[1]"#, #"{"responseId":"1","responseData":[1]}"#),
                (#""responseData":null"#, #"{"responseId":"1","responseData":"result"}"#),
                (
                    #""responseData":"x","handlerName":"showLamp""#,
                    #"{"responseId":"1","responseData":"x","handlerName":"showLamp"}"#
                ),
                (
                    #""responseData":null,"handlerName":"showLamp""#,
                    #"{"responseId":"1","responseData":null,"handlerName":"showLamp"}"#
                ),
            ]
            for (number, (answer, reply)) in answers.enumerated() {
                client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
                #expect(await handler.next().contains(#""phase":"view""#))
                handler.send(#"{"responseId":"q\#(number + 1)",\#(answer)}"#)
                #expect(await client.next() == reply)
            }
        }
    }

    @Test("A handler's end ends the stack, in each phase")
    func handlerEnds() async throws {
        let journal = Journal()
        try await withHandler({ mappings in
            mappings.map("validation", .script("brighten", .validation), .notes("v", .business, in: journal))
            mappings.map(
                "business",
                .script("brighten", .business),
                .notes("b", .business, in: journal),
                .notes("b", .view, in: journal)
            )
            mappings.map("view", .script("brighten", .view), .notes("w", .view, in: journal))
        }) { daemon, handler in
            let client = daemon.connect()
            for (number, phase) in ["validation", "business", "view"].enumerated() {
                client.send(#"{"handlerName":"\#(phase)","callbackId":"1"}"#)
                #expect(await handler.next().contains(#""phase":"\#(phase)""#))
                handler.send(#"{"responseId":"q\#(number + 1)","responseData":5,"end":true}"#)
                let value = phase == "validation" ? "null" : "5"
                #expect(await client.next() == #"{"responseId":"1","responseData":\#(value)}"#)
            }
            client.send(#"{"handlerName":"view"}"#)
            _ = await handler.next()
            handler.send(#"{"responseId":"q4","end":true}"#)
            client.send(#"{"handlerName":"view","callbackId":"2"}"#)
            _ = await handler.next()
            handler.send(#"{"responseId":"q5","end":true}"#)
            #expect(await client.next() == #"{"responseId":"2","responseData":null}"#)
            #expect(journal.notes == [])
        }
    }

    @Test("In validation a handler's error is invalid, with its field")
    func handlerRefuses() async throws {
        try await withHandler({ $0.map("lamp", .script("brighten", .validation)) }) { daemon, handler in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await handler.next()
            handler.send(
                #"{"responseId":"q1","error":{"code":"busy","message":"a level up to 9","field":"/0"}}"#
            )
            #expect(
                await client.next() == """
                    {"responseId":"1","error":{"cmd":"lamp","code":"invalid","message":"a level up to 9",\
                    "handler":"brighten","field":"/0","fields":[{"field":"/0","expected":"a level up to 9"}]}}
                    """
            )
        }
    }

    @Test(
        "Elsewhere a handler's error keeps a known code, or is scriptFailed",
        arguments: [
            (#"{"code":"busy","message":"m"}"#, "busy", "m", ""),
            (#"{"code":"nonsense","message":"m"}"#, "scriptFailed", "m", ""),
            (#"{"message":"m"}"#, "scriptFailed", "m", ""),
            (#""just text""#, "scriptFailed", "just text", ""),
            (#"{}"#, "scriptFailed", "the handler gave an error without message", ""),
            (
                #"{"message":"m","file":"a.js","line":3,"column":4,"stack":"f@a.js:3:4","other":1}"#, "scriptFailed",
                "m", #","file":"a.js","line":3,"column":4,"stack":"f@a.js:3:4""#
            ),
        ]
    )
    func handlerFails(error: String, code: String, message: String, place: String) async throws {
        try await withHandler({ $0.map("lamp", .script("brighten", .business)) }) { daemon, handler in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await handler.next()
            handler.send(#"{"responseId":"q1","error":\#(error)}"#)
            let start = #"{"responseId":"1","error":{"cmd":"lamp","code":"\#(code)","message":"\#(message)""#
            #expect(await client.next() == start + #","handler":"brighten"\#(place)}}"#)
        }
    }

    @Test("In the error phase a handler sees the error, and cannot change it")
    func handlerInErrorPhase() async throws {
        try await withHandler({ mappings in
            mappings.map(
                "lamp",
                .bco { _ throws(CommandError) in throw CommandError(.unavailable, "dark") },
                .script("brighten", .error)
            )
        }) { daemon, handler in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            #expect(
                await handler.next() == """
                    {"handlerName":"brighten","data":null,"callbackId":"q1","command":"lamp","phase":"error",\
                    "results":[],"caller":{"uid":1000,"user":"alice"},"error":{"cmd":"lamp","code":"unavailable","message":"dark"}}
                    """
            )
            handler.send(#"{"responseId":"q1","error":{"code":"busy","message":"no"}}"#)
            #expect(
                await client.next()
                    == #"{"responseId":"1","error":{"cmd":"lamp","code":"unavailable","message":"dark"}}"#
            )
        }
    }

    @Test(
        "An unregistered handler is unavailable, with the service that alone may answer",
        arguments: [
            (only: false, "no client has registered the handler 'other'\""),
            (
                true,
                "no client has registered the handler 'other'; the service quickconnect-data does when it runs\",\"service\":\"quickconnect-data\""
            ),
        ]
    )
    func nobodyRegistered(only: Bool, rest: String) async throws {
        try await withHandler({
            $0.map("lamp", .script("other", .business), answeredBy: ["quickconnect-data"]) {
                $0.answeredBy?.only = only
            }
        }) { daemon, _ in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            let start = #"{"responseId":"1","error":{"cmd":"lamp","code":"unavailable","message":""#
            #expect(await client.next() == "\(start)\(rest)}}")
        }
    }

    @Test("An allowed caller's handler is a command, where no mapping has its name")
    func freeStandingHandler() async throws {
        let place = SourceLocation(file: "quickconnectd.yaml", line: 1, column: 1)
        let rule = AllowRule(userNames: ["alice"], groupNames: [], users: [1000], groups: [], location: place)
        try await withDaemon(
            handlerRule: rule,
            { mappings in
                mappings.mapShipped()
                mappings.map("default", .vco { _ in .reply("default's VCO") })
            }
        ) { daemon in
            let (alice, bob) = (daemon.connect(uid: 1000), daemon.connect(uid: 1001))
            for name in ["mine", "ping", "error", "default"] {
                alice.send(#"{"handlerName":"registerHandler","data":"\#(name)"}"#)
                #expect(await alice.next() == #"{"handlerName":"registerHandler","data":"default's VCO"}"#)
            }
            bob.send(#"{"handlerName":"registerHandler","data":"his"}"#)
            _ = await bob.next()
            bob.send(#"{"handlerName":"mine","data":"x","callbackId":"1"}"#)
            #expect(
                await alice.next() == """
                    {"handlerName":"mine","data":"x","callbackId":"q1","command":"mine","phase":"business",\
                    "results":[],"caller":{"uid":1001,"user":"bob"}}
                    """
            )
            alice.send(#"{"responseId":"q1","responseData":1}"#)
            #expect(await bob.next() == #"{"responseId":"1","responseData":"default's VCO"}"#)
            for command in ["his", "error", "default"] {
                alice.send(#"{"handlerName":"\#(command)","callbackId":"2"}"#)
                #expect(await alice.next().contains(#""code":"unknownCommand""#))
            }
            bob.send(#"{"handlerName":"ping","callbackId":"3"}"#)
            #expect(await bob.next() == #"{"responseId":"3","responseData":"default's VCO"}"#)
        }
    }

    @Test("A handler's name that another connection holds is busy")
    func busyHandler() async throws {
        try await withHandler({ _ in }) { daemon, handler in
            let other = daemon.connect()
            let register = #"{"handlerName":"registerHandler","data":["brighten"],"callbackId":"1"}"#
            let remove = #"{"handlerName":"removeHandler","data":["brighten"],"callbackId":"2"}"#
            other.send(register)
            #expect(
                await other.next() == """
                    {"responseId":"1","error":{"cmd":"registerHandler","code":"busy","message":"the handler \
                    'brighten' is registered by another connection (uid 1001 pid 42)"}}
                    """
            )
            other.send(remove)
            #expect(await other.next().contains(#""code":"notFound""#))
            handler.send(register)
            #expect(await handler.next().hasPrefix(#"{"responseId":"1","responseData":"#))
            handler.send(remove)
            #expect(await handler.next() == #"{"responseId":"2","responseData":null}"#)
            other.send(register)
            #expect(await other.next().hasPrefix(#"{"responseId":"1","responseData":"#))
            other.connection.close()
            handler.send(register)
            #expect(await handler.next().hasPrefix(#"{"responseId":"1","responseData":"#))
        }
    }

    @Test("When a handler's connection closes its calls get scriptFailed, later ones unavailable")
    func handlerCloses() async throws {
        try await withHandler({ $0.map("lamp", .script("brighten", .business)) }) { daemon, handler in
            let client = daemon.connect()
            for id in 1...50 { client.send(#"{"handlerName":"lamp","callbackId":"\#(id)"}"#) }
            for _ in 1...50 { _ = await handler.next() }
            handler.connection.close()
            for _ in 1...50 { #expect(await client.next().contains(#""code":"scriptFailed""#)) }
            client.send(#"{"handlerName":"lamp","callbackId":"51"}"#)
            #expect(await client.next().contains(#""code":"unavailable""#))
        }
    }

    @Test("A client that has ended its input has no handler")
    func handlerEndsInput() async throws {
        try await withHandler({ $0.map("lamp", .script("brighten", .business)) }) { daemon, handler in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await handler.next()
            handler.connection.endInput()
            #expect(await handler.next() == LineQueue.end)
            #expect(await client.next().contains(#""code":"scriptFailed""#))
            client.send(#"{"handlerName":"lamp","callbackId":"2"}"#)
            #expect(await client.next().contains(#""code":"unavailable""#))
        }
    }

    @Test("Answers that nobody awaits are dropped and counted, not answered")
    func droppedAnswers() async throws {
        try await withHandler({ $0.map("lamp", .script("brighten", .business)) }) { daemon, handler in
            let (client, stranger) = (daemon.connect(), daemon.connect())
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await handler.next()
            for line in [
                #"{"responseId":"q1","responseData":"not yours"}"#, #"{"responseId":7}"#,
                #"{"responseId":"q9","error":{}}"#, #"{"error":{"code":"badRequest","message":"x"}}"#,
            ] {
                stranger.send(line)
            }
            #expect(daemon.handlers.droppedAnswerCount == 4)
            for _ in 1...2 { handler.send(#"{"responseId":"q1","responseData":"in time"}"#) }
            #expect(await client.next() == #"{"responseId":"1","responseData":"in time"}"#)
            #expect(daemon.handlers.droppedAnswerCount == 5)
        }
    }

    @Test("A late answer is dropped and counted")
    func lateAnswer() async throws {
        let clients = Promise<TestDaemon>()
        let handlers = Promise<TestClient>()
        try await withHandler({ $0.map("lamp", .script("brighten", .business)) }) { daemon, handler in
            let client = daemon.connect()
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await handler.next()
            client.send(#"{"handlerName":"cancel","data":"1"}"#)
            #expect(await client.next().contains(#""code":"cancelled""#))
            clients.fulfil(daemon)
            handlers.fulfil(handler)
        }
        // Every call is over now, so nobody waits for the answer.
        let (daemon, handler) = (try await clients.value(), try await handlers.value())
        handler.send(#"{"responseId":"q1","responseData":"late"}"#)
        #expect(daemon.handlers.droppedAnswerCount == 1)
        #expect(handler.lines.unread == [])
    }

    @Test("A handler calls with its own rights, not its caller's")
    func handlerRights() async throws {
        try await withHandler({ mappings in
            mappings.map("lamp", .script("brighten", .business))
            mappings.map("secret", users: ["alice"])
        }) { daemon, handler in
            let alice = daemon.connect(uid: 1000)
            alice.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await handler.next()
            handler.send(#"{"handlerName":"secret","callbackId":"h"}"#)
            #expect(await handler.next().contains(#""code":"denied""#))
            handler.send(#"{"responseId":"q1","responseData":null}"#)
            #expect(await alice.next() == #"{"responseId":"1","responseData":null}"#)
        }
    }
}
