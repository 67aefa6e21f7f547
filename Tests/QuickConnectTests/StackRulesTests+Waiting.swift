import Concurrency
import JSON
import QuickConnect
import Testing

extension StackRulesTests {
    // MARK: Waiting

    @Test("A call that waits delays no other")
    func waitingHoldsNobodyUp() async throws {
        let fix = Promise<BusinessOutcome>()
        try await withDaemon({ mappings in
            mappings.map("loc", .waits(for: fix))
            mappings.map("ping")
        }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=loc&id=1")
            client.send("call?cmd=ping&id=2")
            #expect(await client.next() == "handleJSONRequest?cmd=ping&msg=null&id=2")
            fix.fulfil(.result(51))
            #expect(await client.next() == "handleJSONRequest?cmd=loc&msg=51&id=1")
        }
    }

    @Test("A connection's calls start in the order sent")
    func startOrder() async throws {
        let journal = Journal()
        let door = Promise<BusinessOutcome>()
        try await withDaemon({ mappings in
            mappings.map(
                "waits",
                .waitingBCO { call in
                    journal.note(call.request.id ?? "")
                    return .wait { () async throws(CommandError) in .proceed }
                }
            )
            mappings.map(
                "runs",
                .bco { call in
                    journal.note(call.request.id ?? "")
                    return .proceed
                }
            )
        }) { daemon in
            let client = daemon.connect()
            client.ignoreTheRest()
            for id in 1...100 { client.send("call?cmd=\(id.isMultiple(of: 3) ? "waits" : "runs")&id=\(id)") }
            #expect(journal.notes == (1...100).map(String.init))
            door.fulfil(.proceed)
        }
    }

    @Test("The stack may wait in any phase, and again")
    func goesOn() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .valWaits { () async throws(CommandError) in .accept },
                .notes("validation", .validation, in: journal),
                .waits { () async throws(CommandError) in .result(1) },
                .waits { () async throws(CommandError) in .result(2) },
                .vcoWaits { () async throws(CommandError) in .reply(3, under: "early") },
                .vco { call in .reply(.array(call.results.values)) }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":3,"handlerName":"early"}"#)
            #expect(await client.next() == #"{"handlerName":"a","data":[1,2]}"#)
            #expect(journal.notes == ["validation"])
        }
    }

    @Test("A call over its command's time, or else default's, gets timeout")
    func timeout() async throws {
        try await withDaemon({ mappings in
            mappings.map("default", timeout: .milliseconds(5))
            mappings.map("a", .waits(for: Promise<BusinessOutcome>()))
            mappings.map("b", .waits(for: Promise<BusinessOutcome>()), timeout: .milliseconds(10))
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await client.next() == """
                    {"responseId":"1","error":{"cmd":"a","code":"timeout",\
                    "message":"a was not done within 0.005 s"}}
                    """
            )
            client.send("call?cmd=b")
            #expect(await client.next().hasPrefix("handleJSONRequest?cmd=error&msg=%7B%22cmd%22%3A%22b%22%2C%22code"))
        }
    }

    @Test("cancel ends its connection's waiting calls with that id")
    func cancel() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("a", .waitsForEver)
        }) { daemon in
            let (client, other) = (daemon.connect(), daemon.connect())
            other.send(#"{"handlerName":"a","callbackId":"7"}"#)
            for id in ["7", "8", "7"] { client.send(#"{"handlerName":"a","callbackId":"\#(id)"}"#) }
            client.send(#"{"handlerName":"cancel","data":"7"}"#)
            let cancelled = """
                {"responseId":"7","error":{"cmd":"a","code":"cancelled","message":"the caller cancelled the call"}}
                """
            #expect(await client.next() == cancelled)
            #expect(await client.next() == cancelled)
            client.send("call?cmd=cancel&msg=8&id=c")
            // In either order.
            let lines = [await client.next(), await client.next()]
            #expect(lines.contains("handleJSONRequest?cmd=cancel&msg=null&id=c"))
            #expect(lines.contains { $0.hasPrefix(#"{"responseId":"8","error":{"cmd":"a","code":"cancelled""#) })
            other.send(#"{"handlerName":"cancel","data":"7"}"#)
            #expect(await other.next() == cancelled)
        }
    }

    @Test("What ignores its cancellation delays nobody, and its result is dropped")
    func deafOperation() async throws {
        let door = Door()
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map(
                "deaf",
                .waits { () async throws(CommandError) in
                    await door.pass()
                    return .result("late")
                }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"deaf","callbackId":"1"}"#)
            client.send(#"{"handlerName":"cancel","data":"1"}"#)
            #expect(await client.next().hasPrefix(#"{"responseId":"1","error":{"cmd":"deaf","code":"cancelled""#))
            client.connection.endInput()
            #expect(await client.next() == LineQueue.end)
            door.open()
        }
    }

    @Test("A call interrupted while it runs ends at its next wait")
    func interruptedWhileRunning() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .waits { () async throws(CommandError) in .result(1) },
                .bco { call in
                    let connection = call.connection
                    connection.interruptCalls(id: nil, with: CommandError(.cancelled, "now"))
                    return .proceed
                },
                .waits { () async throws(CommandError) in try await Promise<BusinessOutcome>().value() },
                .notes("behind", .business, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            for _ in 1...100 {
                client.send(#"{"handlerName":"a","callbackId":"1"}"#)
                #expect(await client.next().contains("cancelled"))
            }
            #expect(journal.notes == [])
        }
    }

    @Test("An interrupted call's ECOs see the error, and are not awaited")
    func interruptedErrorPhase() async throws {
        let (journal, door, done) = (Journal(), Door(), Promise<Void>())
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map(
                "a",
                .waits(for: Promise<BusinessOutcome>()),
                .waitingECO { error, call in
                    journal.note("begun: \(error.code.rawValue)")
                    return .wait { () async throws(CommandError) in
                        await door.pass()
                        done.fulfil(())
                        return .proceed
                    }
                },
                .notes("behind", .error, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            client.send(#"{"handlerName":"cancel","data":"1"}"#)
            #expect(await client.next().hasPrefix(#"{"responseId":"1","error":{"cmd":"a","code":"cancelled""#))
            #expect(journal.notes == ["begun: cancelled", "behind"])
            // What it began is done, though nobody waits for it.
            door.open()
            try await done.value()
        }
    }

    @Test("An ECO that waits is awaited within the call's time")
    func waitingErrorPhase() async throws {
        let told = Promise<ErrorOutcome>()
        try await withDaemon({ mappings in
            let failing = TestStep.bco { _ throws(CommandError) in throw CommandError(.busy, "taken") }
            mappings.map("a", failing, .ecoWaits(for: told))
            mappings.map("b", failing, .ecoWaits(for: Promise<ErrorOutcome>()), timeout: .milliseconds(5))
            mappings.map("ping")
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            client.send(#"{"handlerName":"ping","callbackId":"2"}"#)
            #expect(await client.next() == #"{"responseId":"2","responseData":null}"#)
            told.fulfil(.proceed)
            #expect(
                await client.next() == #"{"responseId":"1","error":{"cmd":"a","code":"busy","message":"taken"}}"#
            )
            client.send(#"{"handlerName":"b","callbackId":"3"}"#)
            #expect(
                await client.next() == #"{"responseId":"3","error":{"cmd":"b","code":"busy","message":"taken"}}"#
            )
        }
    }

    @Test("At the limit of waiting calls one more is overloaded, others run")
    func overloaded() async throws {
        var limits = Limits()
        limits.callsPerConnection = 3
        let door = Door()
        try await withDaemon(
            limits: limits,
            { mappings in
                mappings.mapShipped()
                mappings.map(
                    "default",
                    .ecoWaits { () async throws(CommandError) in
                        await door.pass()
                        return .proceed
                    }
                )
                mappings.map(
                    "a",
                    .waits { () async throws(CommandError) in
                        await door.pass()
                        return .result(1)
                    }
                )
            }
        ) { daemon in
            let client = daemon.connect()
            for id in 1...4 { client.send(#"{"handlerName":"a","callbackId":"\#(id)"}"#) }
            #expect(
                await client.next() == """
                    {"responseId":"4","error":{"cmd":"a","code":"overloaded","message":"this connection already \
                    has 3 running calls; wait for a reply, or cancel one"}}
                    """
            )
            client.send(#"{"handlerName":"ping","callbackId":"5"}"#)
            #expect(await client.next() == #"{"responseId":"5","responseData":null}"#)
            client.send(#"{"handlerName":"nothing","callbackId":"6"}"#)
            #expect(await client.next().contains("unknownCommand"))
            #expect(client.connection.waitingCount == 3)
            door.open()
            for _ in 1...3 { #expect(await client.next().hasSuffix(#""responseData":1}"#)) }
        }
    }

    @Test("A call keeps the table it started with")
    func keepsTable() async throws {
        let door = Promise<BusinessOutcome>()
        try await withDaemon({ $0.map("a", .waits(for: door), .bco { _ in .result("old") }) }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=1")
            daemon.frontController.replaceTable(MappingTable())
            client.send("call?cmd=a&id=2")
            #expect(await client.next().contains("unknownCommand"))
            door.fulfil(.proceed)
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=%22old%22&id=1")
        }
    }
}
