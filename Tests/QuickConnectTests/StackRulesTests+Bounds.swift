import Concurrency
import CoreModel
import JSON
import QuickConnect
import Testing

extension StackRulesTests {
    // MARK: Names, bounds, and what is handed on

    @Test("What a ValCO hands on is found by its type")
    func handedOn() async throws {
        struct Wish: Sendable, Equatable { var level: Int }
        struct Other: Sendable {}
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .val { call in
                    #expect(call.handedOn(Wish.self) == nil)
                    return .handOn(Wish(level: 5))
                },
                .valWaits { () async throws(CommandError) in .handOn("text") },
                .val { call in
                    #expect(call.handedOn(Wish.self) == Wish(level: 5))
                    return .accept
                },
                .bco { call in
                    let (wish, text, other): (Wish?, String?, Other?) = (
                        call.handedOn(), call.handedOn(), call.handedOn()
                    )
                    #expect(other == nil)
                    return .result([.integer(Int64(wish?.level ?? 0)), .string(text ?? "")])
                },
                .vco { call throws(CommandError) in
                    let wish = try call.handedOn { (_: borrowing Call) throws(CommandError) in Wish(level: 0) }
                    return .reply(.integer(Int64(wish.level)), under: "level")
                }
            )
            // Mapped without its ValCO.
            mappings.map(
                "b",
                .bco { call throws(CommandError) in
                    let wish = try call.handedOn { (call: borrowing Call) throws(CommandError) -> Wish in
                        guard let level = call.integer(0) else { throw .invalid("/0", expected: "a level") }
                        return Wish(level: Int(level))
                    }
                    return .result(.integer(Int64(wish.level)))
                }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":5,"handlerName":"level"}"#)
            client.send(#"{"handlerName":"b","data":7,"callbackId":"2"}"#)
            #expect(await client.next() == #"{"responseId":"2","responseData":7}"#)
            client.send(#"{"handlerName":"b","data":"x","callbackId":"3"}"#)
            #expect(await client.next().contains(#""code":"invalid""#))
        }
    }

    @Test("A ValCO may end the stack, with null")
    func validationEnds() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .val { _ in .end },
                .notes("validation", .validation, in: journal),
                .notes("business", .business, in: journal),
                .notes("view", .view, in: journal),
                .notes("error", .error, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":null}"#)
            #expect(journal.notes == [])
        }
    }

    @Test("A BCO may name the reply's command, the last one counts")
    func resultUnderCommand() async throws {
        try await withDaemon({ mappings in
            mappings.map("a", .bco { _ in .result(.value(1), under: "shown") })
            mappings.map("b", .bco { _ in .result(.value(1), under: "shown") }, .bco { _ in .result(2) })
            mappings.map("c", .bco { _ in .end(.value(3), under: "last") }, .vco { _ in .reply(4) })
        }) { daemon in
            let client = daemon.connect()
            for command in ["a", "b", "c"] { client.send("call?cmd=\(command)&id=1") }
            #expect(await client.next() == "handleJSONRequest?cmd=shown&msg=1&id=1")
            #expect(await client.next() == "handleJSONRequest?cmd=b&msg=2&id=1")
            #expect(await client.next() == "handleJSONRequest?cmd=last&msg=3&id=1")
        }
    }

    @Test("A handler's own name in its answer renames nothing, another does")
    func handlerNames() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .script("brighten", .business))
            mappings.map("show", .script("brighten", .view))
            mappings.map("both", .script("brighten", .business), .bco { _ in .result("last") })
        }) { daemon in
            let (handler, client) = (daemon.connect(uid: 0), daemon.connect())
            handler.send(#"{"handlerName":"registerHandler","data":["brighten"]}"#)
            func reply(to command: String, naming name: String, _ number: Int, end: Bool = false) async -> String {
                client.send("call?cmd=\(command)&id=1")
                _ = await handler.next()
                let end = end ? #","end":true"# : ""
                handler.send(#"{"responseId":"q\#(number)","responseData":5,"handlerName":"\#(name)"\#(end)}"#)
                return await client.next()
            }
            #expect(await reply(to: "lamp", naming: "brighten", 1) == "handleJSONRequest?cmd=lamp&msg=5&id=1")
            #expect(await reply(to: "lamp", naming: "showLamp", 2) == "handleJSONRequest?cmd=showLamp&msg=5&id=1")
            #expect(await reply(to: "lamp", naming: "end", 3, end: true) == "handleJSONRequest?cmd=end&msg=5&id=1")
            #expect(await reply(to: "show", naming: "brighten", 4) == "handleJSONRequest?cmd=show&msg=5&id=1")
            #expect(await reply(to: "show", naming: "showLamp", 5) == "handleJSONRequest?cmd=showLamp&msg=5&id=1")
            #expect(
                await reply(to: "both", naming: "showLamp", 6) == "handleJSONRequest?cmd=both&msg=%22last%22&id=1"
            )
            handler.send(#"{"handlerName":"registerHandler","data":["free"]}"#)
            #expect(await reply(to: "free", naming: "free", 7) == "handleJSONRequest?cmd=free&msg=5&id=1")
        }
    }

    @Test("A handler's unreadable answer fails its caller at once")
    func unreadableAnswers() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .script("brighten", .business))
        }) { daemon in
            let (handler, client) = (daemon.connect(uid: 0), daemon.connect())
            handler.send(#"{"handlerName":"registerHandler","data":["brighten"]}"#)
            func error(_ answer: (_ start: String) -> Void, _ number: Int) async -> String {
                client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
                _ = await handler.next()
                answer(#"{"responseId":"q\#(number)","responseData":"#)
                return await client.next()
            }
            let long = await error({ handler.driver.receive(OverlongLine(Array(($0 + "[1,1,1,1").utf8))) }, 1)
            #expect(
                long == """
                    {"responseId":"1","error":{"cmd":"lamp","code":"tooLarge",\
                    "message":"the handler's answer is longer than 4194304 bytes","handler":"brighten"}}
                    """
            )
            for (number, rest) in ["", "undefined}", "5", "5} x", "\"\u{1}\"}", "{a:1}}"].enumerated() {
                let reply = await error({ handler.send($0 + rest) }, number + 2)
                #expect(reply.hasPrefix(#"{"responseId":"1","error":{"cmd":"lamp","code":"scriptFailed","#), "\(rest)")
                #expect(reply.contains("the handler's answer is not JSON: "), "\(rest)")
            }
            let deep = await error({ handler.send($0 + String(repeating: "[", count: 600)) }, 8)
            #expect(deep.contains(#""code":"tooLarge""#))
            #expect(daemon.handlers.droppedAnswerCount == 0)
            // Where the id does not come first nobody can tell whose it is.
            handler.send(#"{"responseData":x,"responseId":"q9"}"#)
            #expect(await handler.next().hasPrefix(#"{"error":{"code":"badRequest""#))
        }
    }

    @Test("A handler over the connection's limit is overloaded")
    func handlersOfOneConnection() async throws {
        var limits = Limits()
        limits.handlersPerConnection = 3
        try await withDaemon(limits: limits, { $0.mapShipped() }) { daemon in
            let (client, other) = (daemon.connect(uid: 0), daemon.connect(uid: 0))
            func register(_ client: TestClient, _ name: String, _ command: String = "registerHandler") async -> String {
                client.send(#"{"handlerName":"\#(command)","data":["\#(name)"],"callbackId":"1"}"#)
                return await client.next()
            }
            let done = #"{"responseId":"1","responseData":null}"#
            for name in ["a", "b", "c", "b"] { #expect(await register(client, name) == done) }
            #expect(
                await register(client, "d") == """
                    {"responseId":"1","error":{"cmd":"registerHandler","code":"overloaded",\
                    "message":"this connection has 3 handlers; take one back"}}
                    """
            )
            #expect(await register(client, "a") == done)
            #expect(await register(other, "d") == done)
            #expect(await register(client, "a", "removeHandler") == done)
            #expect(await register(client, "e") == done)
            #expect(daemon.handlers.holders.map(\.name).sorted() == ["b", "c", "d", "e"])
        }
    }

    @Test("A subscription over the connection's limit is overloaded")
    func subscriptionsOfOneConnection() async throws {
        var limits = Limits()
        limits.subscriptionsPerConnection = 3
        try await withDaemon(limits: limits, { $0.mapShipped() }) { daemon in
            let client = daemon.connect()
            func say(_ command: String, _ names: String) async -> String {
                client.send(#"{"handlerName":"\#(command)","data":[\#(names)],"callbackId":"1"}"#)
                return await client.next()
            }
            let done = #"{"responseId":"1","responseData":null}"#
            #expect(await say("subscribe", #""a","b","a""#) == done)
            #expect(await say("subscribe", #""c""#) == done)
            let full = """
                {"responseId":"1","error":{"cmd":"subscribe","code":"overloaded",\
                "message":"a connection subscribes to at most 3 events"}}
                """
            #expect(await say("subscribe", #""d""#) == full)
            #expect(await say("subscribe", #""a","d""#) == full)
            #expect(await say("subscribe", #""a","b","c","a""#).contains(#""code":"overloaded""#))
            #expect(await say("subscribe", #""a","b","c""#) == done)
            #expect(daemon.events.subscriberCounts.map(\.event).sorted() == ["a", "b", "c"])
            #expect(await say("unsubscribe", #""b""#) == done)
            #expect(await say("subscribe", #""d""#) == done)
            #expect(daemon.events.subscriberCounts.map(\.event).sorted() == ["a", "c", "d"])
        }
    }

    @Test("A command's long name is cut in errors")
    func longNames() async throws {
        try await withDaemon({ $0.mapShipped() }) { daemon in
            let client = daemon.connect()
            let longest = String(repeating: "c", count: 128)
            client.send("call?cmd=\(longest)&id=1")
            #expect(
                await client.next().hasPrefix("handleJSONRequest?cmd=error&msg=%7B%22cmd%22%3A%22\(longest)%22%2C")
            )
            let cut = String(repeating: "c", count: 40) + "…"
            client.send(#"{"handlerName":"\#(longest)c","callbackId":"1"}"#)
            #expect(
                await client.next() == """
                    {"responseId":"1","error":{"cmd":"\(cut)","code":"unknownCommand",\
                    "message":"no command '\(cut)'","nearest":[]}}
                    """
            )
            // Of a call that could not be read too.
            client.send(#"{"handlerName":"\#(longest)c","callbackId":1}"#)
            #expect(await client.next().hasPrefix(#"{"error":{"cmd":"\#(cut)","code":"badRequest""#))
            client.send("call?cmd=\(longest)c&x=1")
            #expect(
                await client.next().hasPrefix(
                    "handleJSONRequest?cmd=error&msg=%7B%22cmd%22%3A%22\(PercentEncoding.encode(cut))%22%2C"
                )
            )
            client.send("call?cmd=\(String(repeating: "x", count: 1_000_000))&id=2")
            #expect(await client.next().utf8.count < 400)
        }
    }

    @Test("Names are the same only byte for byte, on a socket's list too")
    func byteNames() async throws {
        let (one, two) = ("n\u{E9}", "ne\u{301}")
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map(one, .bco { _ in .result(1) })
            mappings.map(two, .bco { _ in .result(2) })
        }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=\(one)&id=1")
            #expect(await client.next().utf8.elementsEqual("handleJSONRequest?cmd=n%C3%A9&msg=1&id=1".utf8))
            client.send("call?cmd=\(two)&id=1")
            #expect(await client.next().utf8.elementsEqual("handleJSONRequest?cmd=ne%CC%81&msg=2&id=1".utf8))

            let (first, second) = (daemon.connect(uid: 0), daemon.connect(uid: 0))
            for (handler, name) in [(first, one), (second, two)] {
                handler.send(#"{"handlerName":"registerHandler","data":"h\#(name)","callbackId":"1"}"#)
                #expect(await handler.next() == #"{"responseId":"1","responseData":null}"#)
            }
            for (number, (handler, name)) in [(first, one), (second, two)].enumerated() {
                client.send(#"{"handlerName":"h\#(name)","callbackId":"1"}"#)
                #expect(await handler.next().utf8.starts(with: #"{"handlerName":"h\#(name)","#.utf8))
                handler.send(#"{"responseId":"q1","responseData":\#(number)}"#)
                #expect(await client.next() == #"{"responseId":"1","responseData":\#(number)}"#)
            }

            first.send(#"{"handlerName":"subscribe","data":"\#(one)"}"#)
            second.send(#"{"handlerName":"subscribe","data":"\#(two)"}"#)
            client.send(#"{"handlerName":"post","data":["\#(two)",1]}"#)
            #expect(first.lines.unread == [])
            #expect(await second.next().utf8.elementsEqual(#"{"handlerName":"\#(two)","data":1}"#.utf8))
            let rule = SocketRule(
                name: "guest.sock",
                commands: [one],
                connections: 1,
                location: SourceLocation(file: "quickconnectd.yaml", line: 1, column: 1)
            )
            let guest = daemon.connect(rule: rule)
            guest.send("call?cmd=\(one)&id=1")
            #expect(await guest.next() == "handleJSONRequest?cmd=n%C3%A9&msg=1&id=1")
            guest.send("call?cmd=\(two)&id=1")
            #expect(await guest.next().contains("denied"))
        }
    }

    @Test("cancel compares ids by their bytes")
    func byteIds() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("a", .waitsForEver)
        }) { daemon in
            let client = daemon.connect()
            for id in ["n\u{E9}", "ne\u{301}"] { client.send(#"{"handlerName":"a","callbackId":"\#(id)"}"#) }
            client.send(#"{"handlerName":"cancel","data":"ne\#u{301}"}"#)
            #expect(await client.next().utf8.starts(with: "{\"responseId\":\"ne\u{301}\",\"error\":".utf8))
            #expect(client.connection.waitingCount == 1)
            client.send(#"{"handlerName":"cancel","data":"n\#u{E9}"}"#)
            #expect(await client.next().utf8.starts(with: "{\"responseId\":\"n\u{E9}\",\"error\":".utf8))
        }
    }

    @Test("A socket's list denies and hides all other commands, from root too")
    func socketRule() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map("ping")
            mappings.map("rec", .notes("ran", .validation, in: journal))
        }) { daemon in
            let rule = SocketRule(
                name: "guest.sock",
                commands: ["ping", "rec2"],
                connections: 1,
                location: SourceLocation(file: "quickconnectd.yaml", line: 3, column: 5)
            )
            let guest = daemon.connect(uid: 0, rule: rule)
            guest.send(#"{"handlerName":"ping","callbackId":"1"}"#)
            #expect(await guest.next() == #"{"responseId":"1","responseData":null}"#)
            for (command, list) in [("rec", "ping, rec, rec2"), ("rek", "ping, rec2, rek")] {
                guest.send(#"{"handlerName":"\#(command)","callbackId":"1"}"#)
                #expect(
                    await guest.next() == """
                        {"responseId":"1","error":{"cmd":"\(command)","code":"denied","message":"\(command) is not \
                        among the commands of the socket guest.sock (quickconnectd.yaml:3:5); the line «commands: \
                        [\(list)]» there would allow it","rule":"the commands of the socket guest.sock",\
                        "location":"quickconnectd.yaml:3:5","allow":"commands: [\(list)]"}}
                        """
                )
            }
            guest.send(#"{"handlerName":"pong","callbackId":"1"}"#)
            let misspelt = await guest.next()
            #expect(misspelt.contains(#""message":"no command 'pong', did you mean 'ping'?","#), "\(misspelt)")
            // The line that would allow a slip is no advice.
            #expect(misspelt.contains(#""nearest":["ping"]"#) && !misspelt.contains("allow"), "\(misspelt)")
            guest.send(#"{"handlerName":"rec2","callbackId":"1"}"#)
            #expect(await guest.next().contains(#""code":"unknownCommand""#))
            #expect(journal.notes == [])
        }
    }
}
