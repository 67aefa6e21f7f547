import CoreModel
import JSON
import QuickConnect
import Synchronization
import Testing

/// What a mapping's rules allow, whatever way a caller takes.
@Suite("One door")
struct RightsTests {
    private static let place = SourceLocation(file: "quickconnectd.yaml", line: 3, column: 5)

    private static func allow(_ users: [String] = [], groups: [String] = []) -> MappingDeclaration.Allow {
        MappingDeclaration.Allow(
            users: users.map { Located($0, at: place) },
            groups: groups.map { Located($0, at: place) },
            location: place
        )
    }

    private static func verb(_ text: String, _ users: [String]) -> MappingDeclaration.Verb {
        MappingDeclaration.Verb(Located(text, at: place), allow(users))
    }

    private static func gateway(_ commands: [String], uid: UInt32 = 500) -> SocketRule {
        SocketRule(
            name: "web.sock",
            commands: commands,
            connections: 8,
            gateway: SocketRule.Gateway(name: "web", uid: uid),
            location: place
        )
    }

    /// What `command` answers a client: its code, or nil where it did not fail.
    private func code(_ client: TestClient, _ command: String, _ data: String = "null") async -> String? {
        client.send(#"{"handlerName":"\#(command)","data":\#(data),"callbackId":"1"}"#)
        return await client.next().firstMatch(of: /"code":"(\w+)"/).map { String($0.output.1) }
    }

    private func reload(_ daemon: TestDaemon, _ map: (inout TestMappings) -> Void) throws {
        var mappings = TestMappings()
        mappings.mapShipped()
        map(&mappings)
        daemon.router.replaceTable(try mappings.table(daemon.router, daemon.permissions))
    }

    // MARK: Handlers

    @Test("A handler that a mapping uses is no command of its own, before a reload and after it")
    func secondDoor() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .script("brighten", .business), users: ["alice"])
        }) { daemon in
            let (handler, bob) = (daemon.connect(uid: 0), daemon.connect(uid: 1001))
            #expect(await code(handler, "registerHandler", #"["brighten"]"#) == nil)
            #expect(await code(bob, "lamp", "[5]") == "denied")
            #expect(await code(bob, "brighten", "[99999]") == "unknownCommand")
            bob.send(#"{"handlerName":"brightn","callbackId":"1"}"#)
            #expect(await !bob.next().contains("brighten"))
            #expect(daemon.frontController.handlerCommands == [])

            try reload(daemon) { _ in }
            #expect(daemon.frontController.handlerCommands == ["brighten"])
            bob.send(#"{"handlerName":"brighten","data":[3],"callbackId":"2"}"#)
            #expect(await handler.next().hasPrefix(#"{"handlerName":"brighten","data":[3],"callbackId":"q1""#))
            handler.send(#"{"responseId":"q1","responseData":3}"#)
            #expect(await bob.next() == #"{"responseId":"2","responseData":3}"#)

            try reload(daemon) { $0.map("lamp", .script("brighten", .error), users: ["alice"]) }
            #expect(await code(bob, "brighten", "[99999]") == "unknownCommand")
        }
    }

    @Test(
        "Who may answer for a handler of mappings: root, the daemon's user, those of handlerCommands and of answeredBy",
        arguments: [(0, nil), (990, nil), (1002, nil), (1001, nil), (1000, "denied")] as [(UInt32, String?)]
    )
    func answeredBy(uid: UInt32, expected: String?) async throws {
        try await withDaemon(
            handlerRule: Self.carol,
            { mappings in
                mappings.mapShipped()
                mappings.map("lamp", .script("brighten", .validation), answeredBy: ["bob"])
            }
        ) { daemon in
            let client = daemon.connect(uid: uid)
            #expect(await code(client, "registerHandler", #"["brighten"]"#) == expected)
            #expect(await code(client, "registerHandler", #"["free"]"#) == nil)
            #expect(daemon.handlers.count == (expected == nil ? 2 : 1))
        }
    }

    @Test(
        "With only, answeredBy wins over handlerCommands, in each later file that adds somebody, too",
        arguments: [(0, nil), (990, nil), (1002, "denied"), (1001, nil), (1000, "denied")] as [(UInt32, String?)]
    )
    func answeredOnlyBy(uid: UInt32, expected: String?) async throws {
        for laterFile in [false, true] {
            try await withDaemon(
                handlerRule: Self.carol,
                { mappings in
                    mappings.mapShipped()
                    mappings.map("data", .script("data", .business), answeredBy: laterFile ? [] : ["bob"]) {
                        $0.answeredBy?.only = true
                    }
                    if laterFile { mappings.map("data", answeredBy: ["bob"]) }
                }
            ) { daemon in
                let client = daemon.connect(uid: uid)
                client.send(#"{"handlerName":"registerHandler","data":["data"],"callbackId":"1"}"#)
                let answer = await client.next()
                #expect(answer.contains(#""code":"denied""#) == (expected != nil), "\(answer)")
                guard expected != nil else { return }
                #expect(answer.contains(#""rule":"user bob","location":"test.yaml:"#), "\(answer)")
            }
        }
    }

    private static let carol = AllowRule(
        userNames: ["carol"],
        groupNames: [],
        users: [1002],
        groups: [],
        location: place
    )

    @Test("With only, a service of the project answers where answeredBy has its user, not where it has its group")
    func servicesGroups() async throws {
        let service = try #require(TestAccounts().uid(ofUser: "quickconnect-scripts"))
        for (users, expected) in [([], "denied"), (["quickconnect-scripts"], nil)] {
            try await withDaemon(
                handlerRule: AllowRule(
                    userNames: [],
                    groupNames: [],
                    users: [service],
                    groups: [],
                    location: Self.place
                ),
                { mappings in
                    mappings.mapShipped()
                    mappings.map("kiosk", .script("kiosk", .business)) {
                        $0.answeredBy = Self.allow(users, groups: ["audio"])
                        $0.answeredBy?.only = true
                    }
                }
            ) { daemon in
                let script = daemon.connect(uid: service, groups: [29])
                #expect(await code(script, "registerHandler", #"["kiosk"]"#) == expected)
                let person = daemon.connect(uid: 1000, groups: [29])
                #expect(await code(person, "registerHandler", #"["kiosk"]"#) == (expected == nil ? "busy" : nil))
            }
        }
    }

    @Test("Who may make a command of a name takes it from who may not, which is told")
    func takenName() async throws {
        try await withDaemon(handlerRule: Self.carol, { $0.mapShipped() }) { daemon in
            let (watcher, squatter, other) = (daemon.connect(), daemon.connect(), daemon.connect(uid: 1001))
            let (carol, root, client) = (daemon.connect(uid: 1002), daemon.connect(uid: 0), daemon.connect())
            #expect(await code(squatter, "registerHandler", #"["macro:addInner"]"#) == nil)
            #expect(await code(other, "registerHandler", #"["macro:addInner"]"#) == "busy")
            #expect(await code(client, "macro:addInner") == "unknownCommand")
            #expect(await code(watcher, "subscribe", #"["handlers"]"#) == nil)
            #expect(await code(carol, "registerHandler", #"["macro:addInner"]"#) == nil)
            let told = await squatter.next()
            let start = #"{"error":{"cmd":"registerHandler","code":"denied","message":"another client"#
            #expect(told.hasPrefix(start), "\(told)")
            #expect(told.hasSuffix(#""rule":"user carol","location":"quickconnectd.yaml:3:5"}}"#), "\(told)")
            for isRegistered in [false, true] {
                #expect(
                    await watcher.next()
                        == #"{"handlerName":"handlers","data":{"name":"macro:addInner","registered":\#(isRegistered)}}"#
                )
            }
            client.send(#"{"handlerName":"macro:addInner","callbackId":"1"}"#)
            #expect(await carol.next().hasPrefix(#"{"handlerName":"macro:addInner","#))
            carol.send(#"{"responseId":"q1","responseData":1}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":1}"#)
            // Nobody takes it from her, and who has lost it has no more of it.
            for late in [root, squatter] {
                #expect(await code(late, "registerHandler", #"["macro:addInner"]"#) == "busy")
            }
            #expect(await code(squatter, "removeHandler", #"["macro:addInner"]"#) == "notFound")
            #expect(daemon.handlers.count == 1)
        }
    }

    @Test("Who answers for a mapping keeps the name, whoever else may make commands")
    func keptName() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .script("brighten", .business))
        }) { daemon in
            let (bob, root) = (daemon.connect(uid: 1001), daemon.connect(uid: 0))
            #expect(await code(bob, "registerHandler", #"["brighten"]"#) == nil)
            #expect(await code(root, "registerHandler", #"["brighten"]"#) == "busy")
        }
    }

    @Test("A holder that can no longer answer loses its name at once")
    func deadHolder() async throws {
        try await withDaemon({ $0.mapShipped() }) { daemon in
            let dying = NoConnection(Caller(.peer(uid: 0, pid: 1, groups: [])))
            dying.mayAnswer.store(true, ordering: .relaxed)
            let next = daemon.connect(uid: 1001)
            try daemon.router.register("a", of: dying)
            #expect(await code(next, "registerHandler", #"["a"]"#) == "busy")
            dying.mayAnswer.store(false, ordering: .relaxed)
            #expect(await code(next, "registerHandler", #"["a"]"#) == nil)
            #expect(throws: CommandError.self) { try daemon.handlers.remove("a", of: dying) }
            #expect(daemon.handlers.count == 1)
        }
    }

    @Test("Every entry that uses a handler must let its holder answer, default and the error phase too")
    func everyEntry() async throws {
        for second in ["default", "fan"] {
            try await withDaemon({ mappings in
                mappings.mapShipped()
                mappings.map("lamp", .script("brighten", .business), answeredBy: ["alice", "bob"])
                mappings.map(second, .script("brighten", .error), answeredBy: ["bob"])
            }) { daemon in
                let (alice, bob) = (daemon.connect(), daemon.connect(uid: 1001))
                alice.send(#"{"handlerName":"registerHandler","data":["brighten"],"callbackId":"1"}"#)
                let answer = await alice.next()
                #expect(
                    answer.contains(#""code":"denied","message":"'brighten' is a handler of the command \#(second)"#)
                )
                #expect(answer.contains("«\(second): {answeredBy: {users: [bob, NAME]}}»"))
                #expect(await code(bob, "registerHandler", #"["brighten"]"#) == nil)
            }
        }
    }

    @Test("A reload takes a handler from who may not answer for it any more; a call under way is still answered")
    func lostHandler() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .script("brighten", .business))
        }) { daemon in
            let (bob, client) = (daemon.connect(uid: 1001), daemon.connect())
            #expect(await code(bob, "registerHandler", #"["brighten"]"#) == nil)
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            _ = await bob.next()
            try reload(daemon) { $0.map("lamp", .script("brighten", .business), answeredBy: []) }
            #expect(await bob.next().hasPrefix(#"{"error":{"cmd":"registerHandler","code":"denied""#))
            bob.send(#"{"responseId":"q1","responseData":7}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":7}"#)
            #expect(await code(client, "lamp") == "unavailable")
            #expect(await code(bob, "registerHandler", #"["brighten"]"#) == "denied")
            #expect(daemon.handlers.count == 0)
        }
    }

    @Test("A handler that a reload forbids sleeps until it is allowed, taken by another, or refused again")
    func sleepingHandler() async throws {
        func forbid(_ daemon: TestDaemon) throws {
            try reload(daemon) { $0.map("lamp", .script("brighten", .business), answeredBy: []) }
        }
        func allow(_ daemon: TestDaemon) throws {
            try reload(daemon) { $0.map("lamp", .script("brighten", .business), answeredBy: ["bob"]) }
        }
        try await withDaemon({ $0.mapShipped() }) { daemon in
            let (bob, root, client) = (daemon.connect(uid: 1001), daemon.connect(uid: 0), daemon.connect())
            let watcher = daemon.connect()
            func lamp() async -> String {
                client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
                return await client.next()
            }
            func isTold(_ registered: Bool) async -> Bool {
                await watcher.next()
                    == #"{"handlerName":"handlers","data":{"name":"brighten","registered":\#(registered)}}"#
            }
            #expect(await code(watcher, "subscribe", #"["handlers"]"#) == nil)
            #expect(await code(bob, "registerHandler", #"["brighten"]"#) == nil)
            #expect(await isTold(true))

            try forbid(daemon)
            #expect(await bob.next().contains("; after a reload that allows it, this client answers again\""))
            #expect(await isTold(false))
            let lack = await lamp()
            #expect(lack.contains("the client that has registered the handler 'brighten' may not answer for it"))
            #expect(lack.contains(#""code":"unavailable""#) && !lack.contains("bob"))
            #expect(daemon.handlers.count == 0 && daemon.handlers.holders.isEmpty)
            try allow(daemon)
            #expect(await isTold(true))
            client.send(#"{"handlerName":"lamp","callbackId":"2"}"#)
            #expect(await bob.next().hasPrefix(#"{"handlerName":"brighten","#))
            bob.send(#"{"responseId":"q1","responseData":7}"#)
            #expect(await client.next() == #"{"responseId":"2","responseData":7}"#)

            try forbid(daemon)
            #expect(await bob.next().contains(#""code":"denied""#))
            #expect(await isTold(false))
            #expect(await code(root, "registerHandler", #"["brighten"]"#) == nil)
            #expect(await bob.next().contains("another client answers for the handler 'brighten' now"))
            #expect(await isTold(true))
            try allow(daemon)
            #expect(await code(bob, "removeHandler", #"["brighten"]"#) == "notFound")
            #expect(await code(root, "removeHandler", #"["brighten"]"#) == nil)
            #expect(await isTold(false))

            #expect(await code(bob, "registerHandler", #"["brighten"]"#) == nil)
            #expect(await isTold(true))
            try forbid(daemon)
            #expect(await bob.next().contains(#""code":"denied""#))
            #expect(await isTold(false))
            #expect(await code(bob, "registerHandler", #"["brighten"]"#) == "denied")
            try allow(daemon)
            #expect(await lamp().contains("no client has registered the handler 'brighten'"))
        }
    }

    @Test("Who registers a handler that nobody can call is told what mends it; its callers, too, but not whose it is")
    func uncallable() async throws {
        try await withDaemon(handlerRule: Self.carol, { $0.mapShipped() }) { daemon in
            let (bob, carol, client) = (daemon.connect(uid: 1001), daemon.connect(uid: 1002), daemon.connect())
            func answer(_ client: TestClient, _ command: String, _ data: String = "null") async -> String {
                client.send(#"{"handlerName":"\#(command)","data":\#(data),"callbackId":"1"}"#)
                return await client.next()
            }
            let end =
                "in a file of the mappings folder, or with NAME among the users of the setting handlerCommands"
            func line(_ user: String) -> String {
                "«lamp: {business: [script:lamp], answeredBy: {users: [\(user)]}}» \(end)".replacing("NAME", with: user)
            }
            let warning = await answer(bob, "registerHandler", #"["lamp"]"#)
            #expect(warning.hasPrefix(#"{"responseId":"1","responseData":{"warning":"nobody can call 'lamp' yet, "#))
            #expect(warning.contains(line("bob")), "\(warning)")
            #expect(await answer(carol, "registerHandler", #"["fan"]"#) == #"{"responseId":"1","responseData":null}"#)
            #expect(await answer(bob, "registerHandler", #""error""#) == #"{"responseId":"1","responseData":null}"#)

            let error = await answer(client, "lamp")
            #expect(error.contains(#""unknownCommand","message":"no command 'lamp': a client has registered its"#))
            #expect(error.contains(line("NAME")) && error.contains(#""nearest":[]"#), "\(error)")
            #expect(!error.contains("bob"))
            #expect(await !answer(client, "lamq").contains("lamp"))
            // A list that does not have the name says nothing of it.
            let list = SocketRule(name: "guest.sock", commands: ["ping"], connections: 8, location: Self.place)
            let guest = daemon.connect(rule: list)
            #expect(await !answer(guest, "lamp").contains("a client"))

            try reload(daemon) { $0.map("lamp", .script("lamp", .business), answeredBy: ["bob"]) }
            client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            #expect(await bob.next().hasPrefix(#"{"handlerName":"lamp","#))
            bob.send(#"{"responseId":"q1","responseData":7}"#)
            #expect(await client.next() == #"{"responseId":"1","responseData":7}"#)
        }
    }

    @Test("The event handlers tells of names that come and go, each once")
    func handlersEvent() async throws {
        try await withDaemon({ $0.mapShipped() }) { daemon in
            let (watcher, holder) = (daemon.connect(), daemon.connect())
            #expect(await code(watcher, "subscribe", #"["handlers"]"#) == nil)
            for _ in 0..<2 { #expect(await code(holder, "registerHandler", #"["a"]"#) == nil) }
            #expect(await watcher.next() == #"{"handlerName":"handlers","data":{"name":"a","registered":true}}"#)
            #expect(await code(holder, "removeHandler", #"["a"]"#) == nil)
            #expect(await watcher.next() == #"{"handlerName":"handlers","data":{"name":"a","registered":false}}"#)
            #expect(await code(holder, "registerHandler", #"["b"]"#) == nil)
            holder.connection.close()
            #expect(await watcher.next() == #"{"handlerName":"handlers","data":{"name":"b","registered":true}}"#)
            #expect(await watcher.next() == #"{"handlerName":"handlers","data":{"name":"b","registered":false}}"#)
            #expect(await code(watcher, "post", #"["handlers",1]"#) == "denied")
        }
    }

    // MARK: Verbs

    @Test(
        "A verb's rule narrows who may call with that first parameter, however it is written",
        arguments: [
            (1000, #"["save","x"]"#, nil), (1001, #"["save","x"]"#, "denied"), (1001, #"["s\u0061ve","x"]"#, "denied"),
            (1001, #""save""#, "denied"), (1001, #"["show","x"]"#, nil), (1001, #"["1"]"#, "denied"),
            (1001, "[1]", "denied"), (1001, "[1.0]", "denied"), (1001, "[10e-1]", "denied"), (1001, "[true]", "denied"),
            (1001, "[1.\(String(repeating: "0", count: 5000))]", "denied"), (1001, "[[\"save\"]]", nil),
            (1001, "null", nil), (1002, #"["show"]"#, "denied"), (1002, #"["save"]"#, "denied"), (0, #"["save"]"#, nil),
        ] as [(UInt32, String, String?)]
    )
    func verbs(uid: UInt32, data: String, expected: String?) async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("macro", .bco { _ in .result(1) }, users: ["alice", "bob"]) {
                $0.verbs = ["save", "1", "true"].map { Self.verb($0, ["alice", "carol"]) }
            }
        }) { daemon in
            #expect(await code(daemon.connect(uid: uid), "macro", data) == expected)
        }
    }

    @Test("An object in place of a first parameter that is left out is not a way around its verb's rule")
    func verbOfDefault() async throws {
        var action = Parameter("action", .string)
        action.isOptional = true
        action.defaultValue = "list"
        var options = Parameter("options", .object)
        options.isOptional = true
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("media", .bco { _ in .result(1) }, parameters: [action, options]) {
                $0.verbs = [Self.verb("list", ["alice"])]
            }
        }) { daemon in
            let bob = daemon.connect(uid: 1001)
            for data in ["null", "[]", "{}", "[{}]", #"["list"]"#, #"["list",{}]"#] {
                #expect(await code(bob, "media", data) == "denied", "\(data)")
                #expect(await code(daemon.connect(), "media", data) == nil, "\(data)")
            }
            #expect(await code(bob, "media", #"["list",5]"#) == "denied")
            #expect(await code(bob, "media", #"["remove"]"#) == nil)
        }
    }

    @Test("A command object sees whether a verb's rule names its caller")
    func grantedVerb() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("media", .bco { .result(.bool($0.isGrantedByVerb)) }) {
                $0.verbs = [Self.verb("remove", ["alice"])]
            }
        }) { daemon in
            for (data, expected) in [("remove", true), ("list", false)] {
                let alice = daemon.connect()
                alice.send(#"{"handlerName":"media","data":["\#(data)"],"callbackId":"1"}"#)
                #expect(await alice.next() == #"{"responseId":"1","responseData":\#(expected)}"#)
            }
        }
    }

    @Test("A verb that no call can have is a mistake, and a later file's verb leaves the others as they are")
    func verbDeclarations() throws {
        var action = Parameter("action", .string)
        action.oneOf = ["save", "list"]
        let first = Self.declaration("macro") {
            $0.parameters = ParameterList([action])
            $0.verbs = [Self.verb("save", []), Self.verb("list", ["alice"])]
        }
        let later = Self.declaration("macro") { $0.verbs = [Self.verb("save", ["bob"])] }
        let table = try Self.table([first, later])
        let rules = try #require(table["macro"]).verbs
        #expect(rules["save"]?.userNames == ["bob"] && rules["list"]?.userNames == ["alice"])

        let slip = Self.declaration("macro") { $0.verbs = [Self.verb("sav", [])] }
        #expect {
            _ = try Self.table([first, slip])
        } throws: { error in
            "\(error)".contains("'sav' can be no first parameter of 'macro', did you mean 'save'?")
        }
        let none = Self.declaration("ping") {
            $0.parameters = ParameterList([])
            $0.verbs = [Self.verb("x", [])]
        }
        #expect(throws: ConfigurationMistakes.self) { _ = try Self.table([none]) }
    }

    @Test("A verb that is written as a number no call is compared with is a mistake, not an open door")
    func verbNumbers() throws {
        var level = Parameter("level", .number)
        level.isOptional = true
        for parameters in [nil, ParameterList([level]), ParameterList([Parameter("any", .any)])] {
            for (verb, remedy) in [
                ("2.0", "write 2"), ("3e0", "write 3"), ("-0", "write 0"), ("1.5", "a whole number"),
            ] {
                let slip = Self.declaration("dim") {
                    $0.parameters = parameters
                    $0.verbs = [Self.verb(verb, [])]
                }
                #expect {
                    _ = try Self.table([slip])
                } throws: { error in
                    "\(error)".contains("the verb '\(verb)' of 'dim'") && "\(error)".contains(remedy)
                }
            }
            let right = Self.declaration("dim") {
                $0.parameters = parameters
                $0.verbs = [Self.verb("2", []), Self.verb("-1", [])]
            }
            #expect(throws: Never.self) { _ = try Self.table([right]) }
        }
        let text = Self.declaration("release") {
            $0.parameters = ParameterList([Parameter("version", .string)])
            $0.verbs = [Self.verb("2.0", [])]
        }
        #expect(throws: Never.self) { _ = try Self.table([text]) }
    }

    // MARK: Errors

    @Test("Where an owner has written long lists and long names, an error is not much larger than what it answers")
    func errorsOfLongLists() async throws {
        let users = (0..<40).map { "web:\($0)\(String(repeating: "\u{e9}", count: 60))" }
        let long = String(repeating: "l", count: 900)
        var action = Parameter("action", .string)
        action.oneOf = (0..<500).map { .string("\($0)\(String(repeating: "z", count: 60))") }
        try await withDaemon({ mappings in
            mappings.mapShipped()
            for name in ["lamp", long] {
                mappings.map(name, .bco { _ in .result(1) }, users: users) {
                    $0.allow = Self.allow(users, groups: users)
                }
            }
            mappings.map("verby", .bco { _ in .result(1) }, users: ["alice"]) {
                $0.allow = nil
                $0.verbs = [Self.verb(long, users)]
            }
            mappings.map("one", .bco { _ in .result(1) }, users: ["alice"]) {
                $0.allow = nil
                $0.parameters = ParameterList([action, action, action])
            }
        }) { daemon in
            let commands = (0..<1000).map { "\($0)\(String(repeating: "c", count: 120))" }
            let guest = SocketRule(name: "guest.sock", commands: commands, connections: 8, location: Self.place)
            for client in [daemon.connect(uid: 1001), daemon.connect(uid: 1001, rule: guest)] {
                for (name, message) in [("lamp", ""), (long, ""), ("verby", long), ("one", "%5B1,2,3%5D")] {
                    let line = "call?cmd=\(name)&msg=\(message)&id=1"
                    client.send(line)
                    let answer = await client.next()
                    #expect(answer.contains("cmd=error"), "\(answer.prefix(100))")
                    #expect(answer.utf8.count <= line.utf8.count + 4096, "\(line.prefix(40)): \(answer.utf8.count)")
                }
            }
        }
    }

    @Test("The line that would allow a caller is one that an owner may paste, whatever a gateway calls its users")
    func lineOfOddNames() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .bco { _ in .result(1) }, users: ["web:ann"])
            let people = (0..<30).map { "web:person\($0)" }
            mappings.map("many", .bco { _ in .result(1) }, users: people, groups: ["web:ops"])
        }) { daemon in
            let odd = daemon.connect(uid: 500, rule: Self.gateway(["lamp", "many"]))
            #expect(await code(odd, "actFor", #"["x, root", {"groups": ["Ops"]}]"#) == nil)
            odd.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
            #expect(await odd.next().contains(#"{users: [web:ann, \"web:x, root\"]}"#))
            // A list that is too long to show is none to paste.
            odd.send(#"{"handlerName":"many","callbackId":"2"}"#)
            let long = await odd.next()
            #expect(long.contains("; the user is in the group 'Ops', and the rule names 'ops'; "), "\(long)")
            #expect(long.contains(#"; with \"web:x, root\" among the users there it would be allowed"#), "\(long)")
            #expect(!long.contains(#""allow":"#))
            let names = (0..<60).map { "command\($0)" }
            let listed = daemon.connect(
                uid: 0,
                rule: SocketRule(name: "guest", commands: names, connections: 1, location: Self.place)
            )
            listed.send(#"{"handlerName":"lamp","callbackId":"3"}"#)
            let short = await listed.next()
            #expect(short.contains("; «lamp» added there would allow it") && !short.contains(#""allow":"#), "\(short)")
        }
    }

    private static func declaration(_ name: String, _ change: (inout MappingDeclaration) -> Void) -> MappingDeclaration
    {
        var declaration = MappingDeclaration(Located(name, at: place))
        declaration.phases[.view] = []
        change(&declaration)
        return declaration
    }

    private static func table(_ declarations: [MappingDeclaration]) throws -> MappingTable {
        var builder = MappingTableBuilder()
        for declaration in declarations { builder.add(declaration) }
        let handlers = HandlerRegistry.none
        return try builder.build(
            catalog: [:],
            scripts: { HandlerCommandObject($0, handlers: handlers) },
            declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
            accounts: TestAccounts()
        ).table
    }

    // MARK: Events

    @Test("Who may not call X may not subscribe to X; a device's event goes to who may call one of its commands")
    func eventRights() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("location", users: ["alice"])
            mappings.map("loc", users: ["carol"])
            mappings.map("lamp", users: ["alice"])
            mappings.map("rec", users: ["alice"])
        }) { daemon in
            for name in ["location", "recState", "playState"] { daemon.events.add(TestSource(name: name)) }
            let (alice, bob, carol) = (daemon.connect(), daemon.connect(uid: 1001), daemon.connect(uid: 1002))
            for event in ["location", "lamp", "recState"] {
                #expect(await code(alice, "subscribe", #"["\#(event)"]"#) == nil)
                #expect(await code(bob, "subscribe", #"["\#(event)"]"#) == "denied")
                #expect(await code(bob, "subscribe", #"["news","\#(event)"]"#) == "denied")
            }
            #expect(await code(carol, "subscribe", #"["location"]"#) == nil)
            // The command play is not there: nobody but root may know what plays.
            #expect(await code(alice, "subscribe", #"["playState"]"#) == "denied")
            #expect(await code(daemon.connect(uid: 0), "subscribe", #"["playState"]"#) == nil)
            #expect(await code(bob, "subscribe", #"["news","dropped"]"#) == nil)
            #expect(Set(daemon.events.subscriberCounts.map(\.event)).isDisjoint(with: ["nothing"]))
        }
    }

    @Test("On a socket with a list an event's command must be on it")
    func eventsOfList() async throws {
        let list = ["subscribe", "loc", "news"]
        let rule = SocketRule(name: "guest.sock", commands: list, connections: 8, location: Self.place)
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("loc")
        }) { daemon in
            daemon.events.add(TestSource(name: "location"))
            daemon.events.add(TestSource(name: "accel"))
            let guest = daemon.connect(uid: 0, rule: rule)
            for (event, expected) in [("location", nil), ("news", nil), ("dropped", nil)] as [(String, String?)] {
                #expect(await code(guest, "subscribe", #"["\#(event)"]"#) == expected)
            }
            for event in ["accel", "chat", "handlers", "macroError"] {
                #expect(await code(guest, "subscribe", #"["\#(event)"]"#) == "denied")
            }
        }
    }

    @Test("A reload ends the subscriptions that it does not allow any more, and tells their clients")
    func lostSubscription() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp")
        }) { daemon in
            let (alice, bob) = (daemon.connect(), daemon.connect(uid: 1001))
            for client in [alice, bob] { #expect(await code(client, "subscribe", #"["lamp","news"]"#) == nil) }
            let url = daemon.connect(uid: 1001)
            url.send("call?cmd=subscribe&msg=lamp&id=1")
            _ = await url.next()
            try reload(daemon) { $0.map("lamp", users: ["alice"]) }
            #expect(
                await bob.next().hasPrefix(#"{"error":{"cmd":"subscribe","code":"denied","message":"the event 'lamp'"#)
            )
            #expect(await url.next().hasPrefix("handleJSONRequest?cmd=error&msg=%7B%22cmd%22%3A%22subscribe%22"))
            daemon.events.publish(Event("lamp", 1, kind: .message))
            daemon.events.publish(Event("news", 2, kind: .message))
            #expect(await alice.next() == #"{"handlerName":"lamp","data":1}"#)
            #expect(await alice.next() == #"{"handlerName":"news","data":2}"#)
            #expect(await bob.next() == #"{"handlerName":"news","data":2}"#)
        }
    }

    // MARK: Gateways

    @Test("A gateway's connection is its user's after actFor, for rules, handlers' messages, events and errors")
    func gatewayUser() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("lamp", .script("brighten", .business), users: ["web:ann"], groups: ["web:ops"])
            mappings.map("open", .bco { _ in .result(1) })
            mappings.map("rootly", .bco { _ in .result(1) }, users: ["root", "ann"], groups: ["ops"])
        }) { daemon in
            let rule = Self.gateway(["lamp", "open", "rootly", "subscribe"])
            let handler = daemon.connect(uid: 0)
            #expect(await code(handler, "registerHandler", #"["brighten"]"#) == nil)
            for (user, groups, isAllowed) in [
                ("ann", "", true), ("bea", #","groups":["ops"]"#, true), ("bea", "", false),
            ] {
                let client = daemon.connect(uid: 500, rule: rule)
                let options = groups.isEmpty ? "{}" : "{\(groups.dropFirst())}"
                #expect(await code(client, "actFor", #"["\#(user)",\#(options)]"#) == nil)
                #expect(await code(client, "open") == nil)
                #expect(await code(client, "rootly") == "denied")
                #expect(await code(client, "hello") == "denied")
                #expect(await code(client, "subscribe", #"["lamp"]"#) == (isAllowed ? nil : "denied"))
                client.send(#"{"handlerName":"lamp","callbackId":"1"}"#)
                guard isAllowed else {
                    #expect(
                        await client.next().contains(
                            #"«lamp: {allow: {users: [web:ann, web:bea], groups: [web:ops]}}»"#
                        )
                    )
                    continue
                }
                let call = await handler.next()
                #expect(call.hasSuffix(#""caller":{"gateway":"web","user":"\#(user)"}}"#))
                let id = try #require(call.firstMatch(of: /"callbackId":"(q\d+)"/)).output.1
                handler.send(#"{"responseId":"\#(id)","responseData":null}"#)
                #expect(await client.next() == #"{"responseId":"1","responseData":null}"#)
            }
        }
    }

    @Test("Before actFor nothing runs, and it comes once, first, and only on a gateway's socket")
    func actFor() async throws {
        let ran = Journal()
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map(
                "open",
                .bco { _ in
                    ran.note("ran")
                    return .result(1)
                }
            )
        }) { daemon in
            let rule = Self.gateway(["open"])
            let late = daemon.connect(uid: 500, rule: rule)
            #expect(await code(late, "open") == "denied")
            #expect(await code(late, "nothing") == "denied")
            #expect(await code(late, "actFor", #"["ann"]"#) == "denied")
            #expect(await code(late, "open") == "denied")
            #expect(ran.notes == [])

            let twice = daemon.connect(uid: 500, rule: rule)
            #expect(await code(twice, "actFor", #"["ann"]"#) == nil)
            #expect(await code(twice, "actFor", #"["root"]"#) == "denied")
            #expect(await code(twice, "open") == nil)
            #expect(ran.notes == ["ran"])

            let root = daemon.connect(uid: 500, rule: Self.gateway(["reload", "open"]))
            #expect(await code(root, "actFor", #"["root",{"groups":["root"]}]"#) == nil)
            #expect(daemon.permissions.isPrivileged(root.connection.caller) == false)

            for data in [#"["mqtt:ann"]"#, #"[""]"#, #"["a\nb"]"#, "[5]", "null", #"["ann",{"groups":["web:x"]}]"#] {
                let client = daemon.connect(uid: 500, rule: rule)
                #expect(await code(client, "actFor", data) == "invalid", "\(data)")
            }
            for client in [daemon.connect(uid: 0), daemon.connect(uid: 500)] {
                #expect(await code(client, "actFor", #"["ann"]"#) == "denied")
            }
        }
    }

    @Test("A rule for all commands shuts no gateway out")
    func actForBesideDefault() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("default", users: ["web:ann"])
        }) { daemon in
            for (user, expected) in [("ann", nil), ("bea", "denied")] as [(String, String?)] {
                let client = daemon.connect(uid: 500, rule: Self.gateway(["ping"]))
                #expect(await code(client, "actFor", #"["\#(user)"]"#) == nil)
                #expect(await code(client, "ping") == expected)
            }
        }
    }

    @Test("A batch that begins with something else than actFor runs nothing")
    func batchBeforeActFor() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("open", .bco { _ in .result(1) })
        }) { daemon in
            let client = daemon.connect(uid: 500, rule: Self.gateway(["open"]))
            client.send(
                #"[{"handlerName":"open","callbackId":"1"},{"handlerName":"actFor","data":["ann"],"callbackId":"2"}]"#
            )
            for _ in 0..<2 { #expect(await client.next().contains(#""code":"denied""#)) }
        }
    }

    @Test("Whoever connects to a gateway's socket is the gateway, not root")
    func gatewayPeers() {
        let rule = Self.gateway([])
        func refusal(_ uid: UInt32) -> CommandError.Code? {
            rule.refusal(ofConnectionBy: Caller(.peer(uid: uid, pid: 1, groups: [])))?.code
        }
        #expect(refusal(500) == nil && refusal(0) == .denied && refusal(501) == .denied)
    }

    @Test("Names of gateways are compared byte for byte, and never read as another gateway's")
    func gatewayNames() {
        let rule = AllowRule(
            userNames: ["web:ann", "ann", "web:n\u{e9}"],
            groupNames: ["web:ops"],
            users: [1000],
            groups: [],
            location: Self.place
        )
        func names(_ gateway: String, _ user: String, _ groups: Set<String> = []) -> Bool {
            rule.names(Caller(.gateway(name: gateway, user: user, groups: groups)))
        }
        #expect(names("web", "ann") && names("web", "x", ["ops"]) && names("web", "n\u{e9}"))
        #expect(!names("mqtt", "ann") && !names("mqtt", "x", ["ops"]) && !names("web", "ops"))
        #expect(!names("web", "ne\u{301}") && !names("web", "x", ["ann"]) && !names("web", "Ann"))
        #expect(GatewayName.isOne("web:\u{301}ann") && !GatewayName.isValid("a:\u{301}"))
    }
}
