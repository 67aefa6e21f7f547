import JSON
import QuickConnect
import Testing

/// The rules of docs/history.md, one test a rule, in its order.
@Suite("The rules of a stack", .timeLimit(.minutes(5)))
struct StackRulesTests {
    // MARK: The start

    @Test("An unknown command is unknownCommand, with the nearest names")
    func unknownCommand() async throws {
        try await withDaemon({ $0.map("playSound") }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"playSond","callbackId":"1"}"#)
            #expect(
                await client.next() == """
                    {"responseId":"1","error":{"cmd":"playSond","code":"unknownCommand",\
                    "message":"no command 'playSond', did you mean 'playSound'?","nearest":["playSound"]}}
                    """
            )
        }
    }

    @Test("A denied caller is told the rule, and the line that allows it")
    func denied() async throws {
        let journal = Journal()
        try await withDaemon({
            $0.map("rec", .notes("ran", .validation, in: journal), users: ["alice", "carol"])
        }) { daemon in
            let bob = daemon.connect(uid: 1001)
            bob.send(#"{"handlerName":"rec","callbackId":"1"}"#)
            #expect(
                await bob.next() == """
                    {"responseId":"1","error":{"cmd":"rec","code":"denied","message":"rec is allowed to users \
                    alice, carol (test.yaml:1:1); the line «rec: {allow: {users: [alice, carol, NAME]}}» in a \
                    file of the mappings folder would allow it","rule":"users alice, carol",\
                    "location":"test.yaml:1:1","allow":"rec: {allow: {users: [alice, carol, NAME]}}"}}
                    """
            )
            #expect(journal.notes == [])
        }
    }

    @Test("Root and the daemon's user may run everything", arguments: [0, TestDaemon.uid])
    func privileged(uid: UInt32) async throws {
        try await withDaemon({ $0.map("rec", users: []) }) { daemon in
            let client = daemon.connect(uid: uid)
            client.send(#"{"handlerName":"rec","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":null}"#)
        }
    }

    @Test("Bad parameters are invalid, all at once, before anything runs")
    func parametersFirst() async throws {
        let journal = Journal()
        try await withDaemon({
            $0.map("a", .notes("ran", .validation, in: journal), parameters: [Parameter("sound", .integer)])
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","data":["x"],"callbackId":"1"}"#)
            #expect(
                await client.next() == #"""
                    {"responseId":"1","error":{"cmd":"a","code":"invalid","message":"/0: expected sound, an \#
                    integer; got the string \"x\"","fields":[{"field":"/0","expected":"sound, an integer"}]}}
                    """#
            )
            #expect(journal.notes == [])
        }
    }

    @Test("Permission is asked before parameters are looked at")
    func permissionFirst() async throws {
        try await withDaemon({ $0.map("a", parameters: [], users: []) }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","data":[1],"callbackId":"1"}"#)
            #expect(await client.next().contains(#""code":"denied""#))
        }
    }

    @Test("Declared parameters come in their places, defaults filled in")
    func declaredArguments() async throws {
        var loops = Parameter("loops", .integer)
        loops.isOptional = true
        loops.defaultValue = 1
        var options = Parameter("options", .object)
        options.isOptional = true
        try await withDaemon({
            $0.map(
                "play",
                .bco { call in .result(.array(call.arguments)) },
                parameters: [Parameter("file", .string), loops, options]
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"play","data":["a.wav",{"volume":2}],"callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":["a.wav",1,{"volume":2}]}"#)
            client.send(#"{"handlerName":"play","data":"a.wav","callbackId":"2"}"#)
            #expect(await client.next() == #"{"responseId":"2","responseData":["a.wav",1,null]}"#)
        }
    }

    // MARK: The phases

    @Test("ValCOs, then BCOs, then VCOs run, from left to right")
    func phaseOrder() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .notes("view 1", .view, in: journal),
                .notes("business 1", .business, in: journal),
                .notes("validation 1", .validation, in: journal),
                .notes("view 2", .view, in: journal),
                .notes("business 2", .business, in: journal),
                .notes("validation 2", .validation, in: journal)
            )
        }) { daemon in
            daemon.connect().send("call?cmd=a")
            #expect(
                journal.notes == [
                    "validation 1", "validation 2", "business 1", "business 2", "view 1", "view 2",
                ]
            )
        }
    }

    @Test("In each phase default's command objects run first")
    func defaultFirst() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            for command in ["a", "default"] {
                mappings.map(
                    command,
                    .notes("\(command) validation", .validation, in: journal),
                    .notes("\(command) business", .business, in: journal),
                    .notes("\(command) view", .view, in: journal)
                )
            }
        }) { daemon in
            daemon.connect().send("call?cmd=a")
            #expect(
                journal.notes == [
                    "default validation", "a validation", "default business", "a business", "default view", "a view",
                ]
            )
        }
    }

    @Test("The first ValCO that refuses ends the call with invalid and its reason")
    func refusal() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .val { _ throws(CommandError) in throw CommandError(.notFound, "no such lamp") },
                .notes("validation", .validation, in: journal),
                .notes("business", .business, in: journal),
                .notes("view", .view, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await client.next()
                    == #"{"responseId":"1","error":{"cmd":"a","code":"invalid","message":"no such lamp"}}"#
            )
            #expect(journal.notes == [])
        }
    }

    @Test(
        "A ValCO that could not decide keeps its code",
        arguments: [CommandError.Code.unavailable, .timeout, .cancelled, .overloaded, .scriptFailed, .internal]
    )
    func undecided(code: CommandError.Code) async throws {
        try await withDaemon({
            $0.map("a", .val { _ throws(CommandError) in throw CommandError(code, "hm") })
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await client.next()
                    == #"{"responseId":"1","error":{"cmd":"a","code":"\#(code.rawValue)","message":"hm"}}"#
            )
        }
    }

    @Test("A BCO sees the parameters unchanged, and the results before it")
    func results() async throws {
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ in .result("first") },
                .bco { _ in .proceed },
                .bco { call in .result([.array(call.arguments), .array(call.results.values)]) }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","data":[1,2],"callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":[[1,2],["first"]]}"#)
        }
    }

    @Test("A BCO may end the stack before the view, with a result")
    func businessEnds() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ in .end("enough") },
                .notes("business", .business, in: journal),
                .notes("view", .view, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":"enough"}"#)
            #expect(journal.notes == [])
        }
    }

    @Test("A BCO that fails ends the call with its error")
    func businessFails() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ throws(CommandError) in throw CommandError(.unavailable, "unplugged") },
                .notes("business", .business, in: journal),
                .notes("view", .view, in: journal)
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(
                await client.next()
                    == #"{"responseId":"1","error":{"cmd":"a","code":"unavailable","message":"unplugged"}}"#
            )
            #expect(journal.notes == [])
        }
    }

    @Test("A VCO sees the parameters and all results")
    func viewSees() async throws {
        try await withDaemon({ mappings in
            mappings.map(
                "a",
                .bco { _ in .result(1) },
                .bco { _ in .result(2) },
                .vco { call in .reply([.array(call.arguments), .array(call.results.values)]) }
            )
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","data":{"x":0},"callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":[[{"x":0}],[1,2]]}"#)
        }
    }

    @Test("A VCO may end the VCOs behind it, with or without a reply")
    func viewEnds() async throws {
        let journal = Journal()
        try await withDaemon({ mappings in
            mappings.map("a", .vco { _ in .end("last") }, .notes("a", .view, in: journal))
            mappings.map("b", .bco { _ in .result(7) }, .vco { _ in .end }, .notes("b", .view, in: journal))
        }) { daemon in
            let client = daemon.connect()
            client.send(#"{"handlerName":"a","callbackId":"1"}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":"last"}"#)
            client.send(#"{"handlerName":"b","callbackId":"2"}"#)
            #expect(await client.next() == #"{"responseId":"2","responseData":7}"#)
            #expect(journal.notes == [])
        }
    }
}
