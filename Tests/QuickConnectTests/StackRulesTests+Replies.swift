import JSON
import QuickConnect
import Testing

extension StackRulesTests {
    // MARK: The reply

    @Test("The first reply of a VCO is the final one, further ones go out without id")
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

    @Test("Where no VCO replies, the last BCO's result is the reply, under the call's own command")
    func lastResult() async throws {
        try await withDaemon({ mappings in
            mappings.map("a", .bco { _ in .result(1) }, .bco { _ in .result(2) }, .vco { _ in .proceed })
        }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=x")
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=2&id=x")
        }
    }

    @Test("Where there is no result either, the reply is null")
    func nullReply() async throws {
        try await withDaemon({ $0.map("a", .bco { _ in .proceed }) }) { daemon in
            let client = daemon.connect()
            client.send("call?cmd=a&id=x")
            #expect(await client.next() == "handleJSONRequest?cmd=a&msg=null&id=x")
        }
    }

    @Test("A call without id gets what its VCOs send and any error, and else nothing")
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

    @Test("A reply under another command names it, in either form")
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

    @Test("An error behind a reply goes out without id: a call with an id gets exactly one")
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

    @Test("default's ECOs, then the command's, see the error before the caller gets it")
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

    @Test("default's ECOs see unknown commands, refused callers and bad parameters too")
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

    @Test("An ECO that fails is passed over: the caller gets the first error")
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

    @Test("The daemon's log and explain see each failure, before the caller gets it")
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
