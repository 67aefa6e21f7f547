import JSON
import QuickConnect
import Testing

extension StackRulesTests {
    // MARK: The reply

    @Test("The first reply of a VCO is final, others have no id")
    func firstReplyIsFinal() async throws {
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ in .result("unused") },
                .vco { _ in .reply(1) },
                .vco { _ in .reply(2) },
                .vco { _ in .reply(3, under: "third") }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":1}"#)
            #expect(await client.next() == #"{"handlerName":"a","data":2}"#)
            #expect(await client.next() == #"{"handlerName":"third","data":3}"#)
            client.send("call?cmd=a&id=2")
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=1&id=2")
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=2")
            #expect(await client.next() == "handleJSONRequest?cmd=third&msg=3")
        }
    }

    @Test("Without a VCO's reply it is the last BCO's result")
    func lastResult() async throws {
        try await withDaemon({ mappings in
            mappings.map("a", .bco { _ in .result(1) }, .bco { _ in .result(2) }, .vco { _ in .proceed })
        }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=x")
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=2&id=x")
        }
    }

    @Test("Without a result either it is null")
    func nullReply() async throws {
        try await withDaemon({ $0.map("a", .bco { _ in .proceed }) }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=x")
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=null&id=x")
        }
    }

    @Test("A call without id gets its VCOs' replies and errors alone")
    func withoutId() async throws {
        try await withDaemon({ mappings in
            mappings.map("silent", .bco { _ in .result(1) })
            mappings.map("talks", .bco { _ in .result(1) }, .vco { _ in .reply(2) }, .vco { _ in .reply(3) })
            mappings.map("fails", .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") })
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"silent"}"#)
            client.send("call?cmd=silent")
            client.send(#"{"handlerName":"talks"}"#)
            #expect(await client.next() == #"{"handlerName":"talks","data":2}"#)
            #expect(await client.next() == #"{"handlerName":"talks","data":3}"#)
            client.send(#"{"handlerName":"fails"}"#)
            #expect(await client.next() == #"{"error":{"cmd":"fails","code":"busy","message":"taken"}}"#)
        }
    }

    @Test("A reply under another command names it")
    func otherCommand() async throws {
        try await withDaemon({ $0.map("loc", .vco { _ in .reply([51.5007, -0.1246], under: "showLoc") }) }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=loc&id=7")
            #expect(await client.next() == "handleJSONRequest?cmd=showLoc&msg=%5B51.5007%2C-0.1246%5D&id=7")
            client.send(#"{"handlerName":"loc","callbackId":"8"}"#)
            #expect(
                await client.next()
                    == #"{"responseId":"8","responseData":[51.5007,-0.1246],"handlerName":"showLoc"}"#
            )
        }
    }

    @Test("An error behind a reply has no id")
    func errorBehindReply() async throws {
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .vco { _ in .reply(1) },
                .vco { _ throws(CommandError) in throw CommandError(.unavailable, "no screen") }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":1}"#)
            #expect(await client.next() == #"{"error":{"cmd":"a","code":"unavailable","message":"no screen"}}"#)
        }
    }

    // MARK: Errors

    @Test("ECOs see errors before the caller, default's first")
    func errorPhase() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            for command in ["a", "default"] {
                mappings.map(
                    command,
                    .eco { error, call in
                        journal.note("\(command): \(error.code.rawValue)")
                        #expect(call.error == error)
                        call.connection.send(Event("seen by \(command)", nil, kind: .message), form: .bridge)
                        return .proceed
                    }
                )
            }
            mappings.map("a", .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") })
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"handlerName":"seen by default","data":null}"#)
            #expect(await client.next() == #"{"handlerName":"seen by a","data":null}"#)
            #expect(
                await client.next() == #"{"responseId":"1","error":{"cmd":"a","code":"busy","message":"taken"}}"#
            )
            #expect(journal.notes == ["default: busy", "a: busy"])
        }
    }

    @Test("default's ECOs also see unknown commands, refusals and bad parameters")
    func errorPhaseOfAll() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "default",
                .eco { error, call in
                    journal.note("\(call.command): \(error.code.rawValue)")
                    return .proceed
                }
            )
            mappings.map("a", parameters: [])
            mappings.map("b", users: [])
        }) { daemon in
            let client = daemon.connect()
            client.ignoreTheRest()
            for line in ["call?cmd=nothing", "call?cmd=a&msg=1", "call?cmd=b"] { client.send(line) }
            #expect(journal.notes == ["nothing: unknownCommand", "a: invalid", "b: denied"])
            #expect(client.lines.unread.count == 3)
        }
    }

    @Test("A failing ECO is passed over, the first error counts")
    func failingErrorPhase() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ throws(CommandError) in throw CommandError(.busy, "first") },
                .eco { _, _ throws(CommandError) in throw CommandError(.internal, "second") },
                .notes("last", .error, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await client.next() == #"{"responseId":"1","error":{"cmd":"a","code":"busy","message":"first"}}"#
            )
            #expect(journal.notes == ["last"])
        }
    }

    @Test("An ECO may end the ECOs behind it")
    func errorPhaseEnds() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") },
                .eco { _, _ in .end },
                .notes("last", .error, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await client.next() == #"{"responseId":"1","error":{"cmd":"a","code":"busy","message":"taken"}}"#
            )
            #expect(journal.notes == [])
        }
    }

    @Test("Log and explain see failures before the caller")
    func observer() async throws {
        let failures = FailureJournal()
        try await withDaemon(
            observer: failures,
            { $0.map("a", .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") }) }
        ) { daemon in
            let client = daemon.connect()
            client.ignoreTheRest()
            for command in ["a", "b"] { client.send("call?cmd=\(command)") }
            #expect(failures.journal.notes == ["a: busy", "b: unknownCommand"])
            #expect(daemon.frontController.lastFailure(of: "a")?.error.code == .busy)
            #expect(daemon.frontController.lastFailure(of: "b") == nil)
        }
    }
}
