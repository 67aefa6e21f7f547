import CoreModel
import JSON
import TestRig
import Testing

@testable import QuickConnect

/// The command objects of a small catalog, and places in the files that a test pretends to have read.
private let catalog: [String: any CommandObject] = [
    "LampValCO": TestValCO { _ in .accept },
    "LampBCO": TestBCO { _ in .proceed },
    "DimBCO": TestBCO { _ in .proceed },
    "LampVCO": TestVCO { _ in .proceed },
    "LampECO": TestECO { _, _ in .proceed },
]

private func place(_ line: Int, _ column: Int = 1, file: String = "a.yaml") -> QuickConnect.SourceLocation {
    QuickConnect.SourceLocation(file: file, line: line, column: column)
}

private func declaration(
    _ command: String,
    _ phases: [Phase: [String]] = [:],
    at line: Int = 1,
    _ change: (inout MappingDeclaration) -> Void = { _ in }
) -> MappingDeclaration {
    var declaration = MappingDeclaration(Located(command, at: place(line)))
    declaration.phases = phases.mapValues { $0.map { Located($0, at: place(line, 5)) } }
    change(&declaration)
    return declaration
}

private func build(
    _ declarations: [MappingDeclaration]
) throws -> (table: MappingTable, warnings: [ConfigurationMistake]) {
    var builder = MappingTableBuilder()
    for declaration in declarations { builder.add(declaration) }
    return try builder.build(
        catalog: catalog,
        scripts: { HandlerCommandObject($0, handlers: .none) },
        declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
        accounts: TestAccounts()
    )
}

private func names(_ entry: MappingEntry?, _ phase: Phase) -> [String]? { entry?.steps(of: phase).map(\.name) }

private func mistakes(_ declarations: [MappingDeclaration]) -> String {
    do {
        _ = try build(declarations)
        return "none"
    } catch {
        return "\(error)"
    }
}

@Suite("Mappings are merged in the files' order and resolved when loaded")
struct MappingTableTests {
    @Test("Several files add to one command: the phases append, every other key is replaced")
    func merge() throws {
        let rule = MappingDeclaration.Allow(users: [Located("alice", at: place(9))], location: place(9))
        let (table, warnings) = try build([
            declaration("lamp", [.business: ["LampBCO"], .view: ["LampVCO"]]) {
                $0.help = "old"
                $0.timeout = .seconds(1)
                $0.parameters = ParameterList([])
            },
            declaration("lamp", [.business: ["DimBCO", "script:shade"], .error: ["LampECO"]]) {
                $0.help = "new"
                $0.allow = rule
            },
        ])
        let entry = try #require(table["lamp"])
        #expect(names(entry, .validation) == [])
        #expect(names(entry, .business) == ["LampBCO", "DimBCO", "script:shade"])
        #expect(names(entry, .view) == ["LampVCO"])
        #expect(names(entry, .error) == ["LampECO"])
        #expect(entry.help == "new")
        #expect(entry.timeout == .seconds(1))
        #expect(entry.parameters == ParameterList([]))
        #expect(entry.rule?.users == [1000])
        #expect(warnings.isEmpty)
    }

    @Test("replace starts the entry anew")
    func replace() throws {
        let (table, _) = try build([
            declaration("lamp", [.business: ["LampBCO"]]) { $0.help = "old" },
            declaration("lamp", [.view: ["LampVCO"]]) { $0.replaces = true },
            declaration("lamp", [.view: ["LampVCO"]]),
        ])
        #expect(names(table["lamp"], .business) == [])
        #expect(names(table["lamp"], .view) == ["LampVCO", "LampVCO"])
        #expect(table["lamp"]?.help == nil)
    }

    @Test("remove takes the entry out; a later file may map it anew")
    func remove() throws {
        let gone = declaration("lamp", at: 2) { $0.removes = true }
        let (table, _) = try build([declaration("lamp", [.business: ["LampBCO"]]), gone])
        #expect(table["lamp"] == nil)
        let (again, _) = try build([declaration("lamp"), gone, declaration("lamp", [.view: ["LampVCO"]])])
        #expect(names(again["lamp"], .view) == ["LampVCO"])
    }

    @Test("What is not mapped cannot be removed")
    func removeUnknown() {
        let text = mistakes([declaration("lamp", [.view: []]), declaration("lamb", at: 2) { $0.removes = true }])
        #expect(text == "a.yaml:2:1: no file before maps 'lamb', so it cannot be removed, did you mean 'lamp'?")
    }

    @Test("replace says what it replaces by nothing, and where there is nothing to replace")
    func replaceNothing() throws {
        let lamp = declaration("lamp", [.view: ["LampVCO"]])
        let text = mistakes([lamp, declaration("lamp", at: 2) { $0.replaces = true }])
        #expect(
            text == """
                a.yaml:2:1: 'replace: true' leaves nothing of 'lamp' (a.yaml:1:1), and no file says what it is instead; \
                'remove: true' removes it, and a command that does nothing has 'view: []'
                """
        )
        let (table, warnings) = try build([lamp, declaration("lamb", [.view: []], at: 2) { $0.replaces = true }])
        let says = "no file before maps 'lamb', so 'replace: true' replaces nothing, did you mean 'lamp'?"
        #expect(table["lamb"] != nil && warnings.map(\.description) == ["a.yaml:2:1: \(says)"])
    }

    @Test(
        "default's command objects stand before each command's own, phase by phase, and give timeout and allow to all"
    )
    func defaults() throws {
        let (table, _) = try build([
            declaration("lamp", [.validation: ["LampValCO"], .business: ["LampBCO"]]) { $0.timeout = .seconds(2) },
            declaration("fan", [.error: ["LampECO"]]) {
                $0.allow = MappingDeclaration.Allow(location: place(5))
            },
            declaration("default", [.validation: ["script:check"], .business: ["DimBCO"], .error: ["script:log"]]) {
                $0.timeout = .seconds(60)
                $0.allow = MappingDeclaration.Allow(groups: [Located("audio", at: place(8))], location: place(8))
            },
        ])
        #expect(names(table["lamp"], .validation) == ["script:check", "LampValCO"])
        #expect(names(table["lamp"], .business) == ["DimBCO", "LampBCO"])
        #expect(names(table["fan"], .business) == ["DimBCO"])
        #expect(names(table["fan"], .error) == ["script:log", "LampECO"])
        #expect(table["lamp"]?.timeout == .seconds(2))
        #expect(table["fan"]?.timeout == .seconds(60))
        #expect(table["lamp"]?.rule?.groups == [29])
        #expect(table["fan"]?.rule?.groups == [])
        #expect(table["default"] == nil)
    }

    @Test("error is no command's name")
    func reserved() {
        #expect(
            mistakes([declaration("error", at: 3)])
                == "a.yaml:3:1: 'error' is the command of error replies and cannot be mapped"
        )
    }

    @Test("An unknown command object is a mistake, with its place and the nearest names")
    func unknownObject() {
        #expect(
            mistakes([declaration("lamp", [.business: ["DimBC0"]], at: 4)])
                == "a.yaml:4:5: unknown command object 'DimBC0', did you mean 'DimBCO'?"
        )
        #expect(mistakes([declaration("lamp", [.view: ["Xyz"]])]) == "a.yaml:1:5: unknown command object 'Xyz'")
        #expect(mistakes([declaration("lamp", [.view: ["script:"]])]) == "a.yaml:1:5: unknown command object 'script:'")
        for name in ["scipt:ring", "script: ring", "script :ring"] {
            #expect(
                mistakes([declaration("lamp", [.business: [name]])])
                    == "a.yaml:1:5: unknown command object '\(name)', did you mean 'script:ring'?"
            )
        }
    }

    @Test("A command object under another phase than its own is a mistake")
    func wrongPhase() {
        #expect(
            mistakes([declaration("lamp", [.view: ["LampBCO"]])])
                == "a.yaml:1:5: 'LampBCO' belongs under 'business', not under 'view'"
        )
    }

    @Test("An entry for which no file gives a phase is a mistake: an empty phase is given, default may have none")
    func emptyEntry() throws {
        #expect(
            mistakes([declaration("lamp", [.view: ["LampVCO"]]), declaration("lmap", at: 2) { $0.help = "slip" }])
                == """
                a.yaml:2:1: no file maps 'lmap' to a command object, did you mean 'lamp'?; \
                a command that does nothing has 'view: []'
                """
        )
        let (table, _) = try build([
            declaration("ping", [.view: []]), declaration("lamp") { $0.help = "first" },
            declaration("lamp", [.business: ["LampBCO"]]), declaration("default") { $0.timeout = .seconds(3) },
        ])
        #expect(names(table["ping"], .view) == [])
        #expect(table["ping"]?.timeout == .seconds(3))
        #expect(names(table["lamp"], .business) == ["LampBCO"])
        #expect(table["lamp"]?.help == "first")
        #expect(table.count == 2)
    }

    @Test("A command object of several phases may stand under each of them, and under no other")
    func severalPhases() throws {
        let (table, _) = try build([
            declaration("lamp", [.validation: ["script:a"], .business: ["script:a"], .error: ["script:a"]])
        ])
        for phase in [Phase.validation, .business, .error] { #expect(names(table["lamp"], phase) == ["script:a"]) }
        #expect(names(table["lamp"], .view) == [])
    }

    @Test("Commands are the same only byte for byte")
    func byteNames() throws {
        let (table, _) = try build([
            declaration("n\u{E9}", [.business: ["LampBCO"]]), declaration("ne\u{301}", [.view: ["LampVCO"]]),
        ])
        #expect(table.count == 2)
        #expect(names(table["n\u{E9}"], .business) == ["LampBCO"])
        #expect(names(table["n\u{E9}"], .view) == [])
        #expect(names(table["ne\u{301}"], .view) == ["LampVCO"])
        #expect(table["ne"] == nil)
    }

    @Test("All mistakes are told at once, in the order of their places")
    func allMistakes() {
        let text = mistakes([
            declaration("fan", [.view: ["LampBCO"]], at: 7), declaration("lamp", [.business: ["Nothing"]], at: 2),
            declaration("error", at: 5),
        ])
        #expect(text.split(separator: "\n").map { $0.prefix(8) } == ["a.yaml:2", "a.yaml:5", "a.yaml:7"])
    }

    @Test("An unknown user or group is a warning and matches nobody")
    func unknownAccounts() throws {
        let (table, warnings) = try build([
            declaration("lamp", [.view: []]) {
                $0.allow = MappingDeclaration.Allow(
                    users: [Located("alice", at: place(2)), Located("nobody2", at: place(3))],
                    groups: [Located("audio", at: place(4)), Located("adio", at: place(5))],
                    location: place(1)
                )
            }
        ])
        #expect(table["lamp"]?.rule?.users == [1000])
        #expect(table["lamp"]?.rule?.groups == [29])
        #expect(table["lamp"]?.rule?.words == "users alice, nobody2; groups audio, adio")
        #expect(
            warnings.map(\.description) == [
                "a.yaml:3:1: no user 'nobody2' on this device", "a.yaml:5:1: no group 'adio' on this device",
            ]
        )
    }

    @Test("An unknown name may be one of a gateway's")
    func namesOfGateways() throws {
        let groups = [Located("home", at: place(2)), Located("web:home", at: place(3))]
        let (_, warnings) = AllowRule.resolve(
            .init(groups: groups, location: place(1)),
            TestAccounts(),
            gateways: ["mqtt", "web"]
        )
        let says = "no group 'home' on this device; a group of the gateway web is \"web:home\""
        #expect(warnings.map(\.description) == ["a.yaml:2:1: \(says)"])
    }

    @Test("The service that publishes to a gateway reads the values that name its users, and nothing else")
    func publishers() throws {
        let named = MappingDeclaration.Allow(users: [Located("mqtt:ha", at: place(2))], groups: [], location: place(2))
        let other = MappingDeclaration.Allow(users: [Located("web:ann", at: place(3))], groups: [], location: place(3))
        let value = ValueDeclaration(Parameter("lamp", .boolean))
        let (table, _) = try build([
            declaration("lamp", [:]) { ($0.value, $0.allow) = (value, named) },
            declaration("page", [:]) { ($0.value, $0.allow) = (value, other) },
            declaration("stack", [.view: []]) { $0.allow = named },
        ])
        let permissions = Permissions(ownUID: 0)
        let service = Caller(.peer(uid: 1004, pid: 1, groups: []))
        let may = ["lamp", "page", "stack"].map { name in
            table[name].map { permissions.refusal(by: $0, service) == nil }
        }
        #expect(may == [true, false, false])
        let stranger = Caller(.peer(uid: 1003, pid: 1, groups: []))
        #expect(table["lamp"].flatMap { permissions.refusal(by: $0, stranger) } != nil)
    }

    @Test("A copy of an entry takes it from no gateway's list; one without the rule does, and is told")
    func copies() throws {
        let value = ValueDeclaration(Parameter("rings", .integer))
        func rings(_ file: String, _ groups: [String]) -> MappingDeclaration {
            var one = MappingDeclaration(Located("rings", at: place(1, file: file)))
            one.value = value
            guard !groups.isEmpty else { return one }
            let names = groups.map { Located($0, at: place(3, file: file)) }
            one.allow = MappingDeclaration.Allow(groups: names, location: place(3, file: file))
            return one
        }
        func entry(_ declarations: MappingDeclaration...) throws -> MappingEntry {
            var builder = MappingTableBuilder()
            builder.shipped = "/usr"
            for declaration in declarations { builder.add(declaration) }
            let (table, _) = try builder.build(
                catalog: [:],
                scripts: { HandlerCommandObject($0, handlers: .none) },
                declared: { name, _ in ValueCommandObject(name, ValueStore(EventHub(limits: Limits()))) },
                accounts: TestAccounts()
            )
            return try #require(table["rings"])
        }
        let first = rings("a.yaml", ["audio", "web:home"])
        #expect(try entry(first, first, rings("c.yaml", ["web:ops"])).gateways.map(\.text) == ["web"])
        let rule = SocketRule(
            name: "web",
            commands: [],
            connections: 1,
            gateway: .init(name: "web", uid: 1),
            location: place(2, file: "settings.yaml")
        )
        for (lacking, text) in [
            (
                try entry(first, rings("b.yaml", [])),
                "the line «allow: {groups: [audio, web:home]}» in the entry at b.yaml:1:1"
            ),
            (
                try entry(rings("a.yaml", [])),
                "the line «allow: {users: [web:NAME], groups: [quickconnect]}» in the entry at a.yaml:1:1"
            ),
            (
                try entry(rings("/usr/a.yaml", []), rings("b.yaml", ["web:home"])),
                "the line «commands: [rings]» there"
            ),
        ] {
            #expect(lacking.gateways.isEmpty)
            let refusal = rule.refusal(of: lacking)
            let says = "rings is not among the commands of the socket web (settings.yaml:2:1); \(text) would allow it"
            #expect(refusal?.message.hasPrefix(says) == true, "\(String(describing: refusal))")
        }
        let listed = rule.refusal(of: try entry(first))
        #expect(listed == nil)
    }

    @Test("What only a package makes is no warning, but as a user the group's name is")
    func packageAccounts() throws {
        let (table, warnings) = try build([
            declaration("lamp", [.view: []]) {
                $0.allow = MappingDeclaration.Allow(
                    users: [Located("quickconnect-sync", at: place(2)), Located("quickconnect", at: place(3))],
                    groups: [Located("quickconnect", at: place(4)), Located("quickconnect-sync", at: place(5))],
                    location: place(1)
                )
            }
        ])
        #expect(table["lamp"]?.rule?.users == [] && table["lamp"]?.rule?.groups == [])
        #expect(
            warnings.map(\.description) == [
                "a.yaml:3:1: no user 'quickconnect' on this device",
                "a.yaml:5:1: no group 'quickconnect-sync' on this device",
            ]
        )
    }
}

@Suite("Who may run a command")
struct AllowRuleTests {
    private static let rule = AllowRule(
        userNames: ["alice"],
        groupNames: ["audio"],
        users: [1000],
        groups: [29],
        location: place(1)
    )

    @Test(
        "A rule names users, and the members of groups",
        arguments: [
            (Caller(.peer(uid: 1000, pid: 1, groups: [])), true),
            (Caller(.peer(uid: 1001, pid: 1, groups: [29])), true),
            (Caller(.peer(uid: 1001, pid: 1, groups: [5, 29])), true),
            (Caller(.peer(uid: 1001, pid: 1, groups: [1000])), false),
            (Caller(.peer(uid: 0, pid: 1, groups: [])), false),
            (Caller(.gateway(name: "mqtt", user: "alice")), false), (.daemon, false),
        ]
    )
    func names(caller: Caller, isNamed: Bool) {
        #expect(Self.rule.names(caller) == isNamed)
    }

    @Test("No rule applies to root, to the daemon's own user and to the daemon itself")
    func privileged() {
        #expect(Caller(.peer(uid: 0, pid: 1, groups: [])).isPrivileged(ownUID: 990))
        #expect(Caller(.peer(uid: 990, pid: 1, groups: [])).isPrivileged(ownUID: 990))
        #expect(Caller.daemon.isPrivileged(ownUID: 990))
        #expect(!Caller(.peer(uid: 991, pid: 1, groups: [0, 990])).isPrivileged(ownUID: 990))
        #expect(!Caller(.gateway(name: "mqtt", user: "root")).isPrivileged(ownUID: 990))
    }

    @Test(
        "A rule in words",
        arguments: [
            (["a"], ["g"], "user a; group g"), (["a", "b"], [], "users a, b"), ([], ["g", "h"], "groups g, h"),
            ([], [], "root only"),
        ] as [([String], [String], String)]
    )
    func words(users: [String], groups: [String], words: String) {
        let rule = AllowRule(userNames: users, groupNames: groups, users: [], groups: [], location: place(1))
        #expect(rule.words == words)
    }

    @Test("Whoever stops something is root, the daemon's user, or the same user")
    func sameUser() async throws {
        try await withDaemon { daemon in
            let (alice, root) = (
                Caller(.peer(uid: 1000, pid: 1, groups: [])), Caller(.peer(uid: 0, pid: 2, groups: []))
            )
            let again = Caller(.peer(uid: 1000, pid: 9, groups: [5]))
            #expect(daemon.permissions.mayEnd(alice)(again))
            #expect(!daemon.permissions.mayEnd(alice)(root))
            #expect(daemon.permissions.mayEnd(root)(alice))
            #expect(
                !daemon.permissions.mayEnd(Caller(.gateway(name: "a", user: "x")))(
                    .init(.gateway(name: "b", user: "x"))
                )
            )
        }
    }

    @Test("Whether a caller may run a command can be asked without running it")
    func refusal() async throws {
        try await withDaemon({ $0.map("rec", users: ["alice"]) }) { daemon in
            let (alice, bob) = (
                Caller(.peer(uid: 1000, pid: 1, groups: [])), Caller(.peer(uid: 1001, pid: 2, groups: []))
            )
            #expect(daemon.frontController.refusal(of: "rec", for: alice) == nil)
            #expect(daemon.frontController.refusal(of: "rec", for: bob)?.code == .denied)
            #expect(daemon.frontController.refusal(of: "rek", for: alice)?.code == .unknownCommand)
        }
    }
}

@Suite("Nearest names")
struct NearestNamesTests {
    private static let commands = ["playSound", "play", "ping", "loc", "location", "stop", "state", "sounds", "volume"]

    @Test(
        "A name with a slip finds the name that was meant",
        arguments: [
            ("playSond", ["playSound"]), ("PLAYSOUND", ["playSound"]), ("plaSyound", ["playSound"]), ("pign", ["ping"]),
            ("lco", ["loc"]), ("lok", ["loc"]), ("loca", ["loc"]), ("sound", ["sounds"]), ("stopp", ["stop"]),
            ("locatoin", ["location"]), ("", []), ("record", []), ("xyz", []), ("a", []),
        ] as [(String, [String])]
    )
    func find(name: String, nearest: [String]) {
        #expect(NearestNames.find(name, among: Self.commands) == nearest)
    }

    @Test("At most three, the nearest first, those equally near by name")
    func order() {
        let names = ["abcdef", "abcdeg", "abcdeh", "abcdxx", "abcdei", "abcde"]
        #expect(NearestNames.find("abcdef", among: names) == ["abcdef", "abcde", "abcdeg"])
    }

    @Test("A very long name is near to none, and takes no time")
    func longNames() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(NearestNames.find(long, among: Self.commands) == [])
        #expect(NameIndex(Self.commands + [long]).nearest(long) == [])
    }

    @Test("The index finds what one letter added, left out, changed or two swapped has made of a name")
    func oneSlip() {
        let index = NameIndex(Self.commands)
        for name in Self.commands {
            for slip in Self.slips(of: name) {
                let near = NearestNames.find(slip, among: Self.commands)
                #expect(index.nearest(slip) == near || near.contains { !Self.isOneSlip(slip, from: $0) }, "\(slip)")
                #expect(index.nearest(slip).contains(name) || near.first != name, "\(slip)")
                #expect(index.nearest(slip).allSatisfy { near.contains($0) }, "\(slip)")
            }
        }
        #expect(index.nearest("playSound") == ["playSound"])
        #expect(index.nearest("PLAYSOUND") == ["playSound"])
        #expect(index.nearest("") == [] && index.nearest("record") == [] && index.nearest("xyz") == [])
        #expect(NameIndex().nearest("play") == [])
        #expect(NameIndex([]).nearest("play") == [])
    }

    @Test("The index finds much of what two slips have made of a name")
    func twoSlips() {
        let index = NameIndex(Self.commands)
        for slip in ["playSnud", "lcoaiton", "locatonn"] {
            #expect(!index.nearest(slip).isEmpty || !NearestNames.find(slip, among: Self.commands).isEmpty)
        }
        #expect(index.nearest("locatino") == ["location"])
    }

    @Test("Among 100,000 names the nearest are found without a look at all of them", .measured)
    func manyNames() {
        let names = (0..<100_000).map { "command\($0)" }
        let index = NameIndex(names)
        let start = ContinuousClock.now
        for number in stride(from: 0, to: 100_000, by: 100) {
            #expect(index.nearest("comand\(number)").contains("command\(number)"))
        }
        for _ in 0..<1000 { #expect(index.nearest("somethingElse") == []) }
        // 1,000 looks at all of them take minutes.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("Mapped commands and handlers that are commands are found, as they come and go")
    func atRunTime() async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("brighter")
        }) { daemon in
            let client = daemon.connect(uid: 0)
            func nearest(_ command: String) async -> JSONValue? {
                client.send(#"{"handlerName":"\#(command)","callbackId":"1"}"#)
                let reply = try? JSONParser.parse(await client.next())
                return reply?.objectValue?["error"]?.objectValue?["nearest"]
            }
            func say(_ command: String, _ handler: String) async {
                client.send(#"{"handlerName":"\#(command)","data":["\#(handler)"],"callbackId":"1"}"#)
                #expect(await client.next() == #"{"responseId":"1","responseData":null}"#)
            }
            #expect(await nearest("brightet") == ["brighter"])
            #expect(await nearest("dimmm") == [])
            await say("registerHandler", "brightest")
            await say("registerHandler", "dimm")
            #expect(await nearest("brightet") == ["brighter", "brightest"])
            #expect(await nearest("dimmm") == ["dimm"])
            await say("removeHandler", "brightest")
            #expect(await nearest("brightet") == ["brighter"])
            // One that is no command of its own is nobody's business.
            let other = daemon.connect()
            other.send(#"{"handlerName":"registerHandler","data":["secret"],"callbackId":"1"}"#)
            _ = await other.next()
            #expect(await nearest("secre") == [])
            client.connection.endInput()
            #expect(await client.next() == LineQueue.end)
        }
    }

    @Test("Names of which very many differ in one letter only do not make the index slow", .measured)
    func crowdedNames() {
        let names = (0..<30_000).compactMap { Unicode.Scalar(UInt32(0x4E00 + $0 % 20_000)) }.map { "lamp\($0)" }
        let start = ContinuousClock.now
        let index = NameIndex(names)
        for name in names.prefix(2000) { #expect(index.nearest(name).count <= 3) }
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    /// Everything that one slip makes of a name.
    private static func slips(of name: String) -> [String] {
        let letters = Array(name)
        var slips: [String] = []
        for index in letters.indices {
            var left = letters
            left.remove(at: index)
            var changed = letters
            changed[index] = "x"
            slips += [String(left), String(changed)]
            if index + 1 < letters.count {
                var swapped = letters
                swapped.swapAt(index, index + 1)
                slips.append(String(swapped))
            }
        }
        for index in 0...letters.count {
            var more = letters
            more.insert("x", at: index)
            slips.append(String(more))
        }
        return slips
    }

    private static func isOneSlip(_ slip: String, from name: String) -> Bool {
        slip.lowercased() == name.lowercased() || slips(of: name).contains(slip)
    }
}

@Suite("Names by their bytes")
struct NameTableTests {
    @Test("A look-up finds each name, and nothing else")
    func lookUp() {
        let names = (0..<5000).map { "name\($0)" } + ["", "n\u{E9}", "ne\u{301}"]
        let table = NameTable(names.enumerated().map { (name: $1, element: $0) })
        for (index, name) in names.enumerated() { #expect(table[name] == index) }
        #expect(table.elements.count == names.count)
        for name in ["name5000", "name", "NAME1", "n", "ne", "name1\u{0}", String(repeating: "n", count: 100_000)] {
            #expect(table[name] == nil)
        }
    }

    @Test("An empty table has nothing")
    func empty() {
        #expect(NameTable<Int>()["a"] == nil)
        #expect(NameTable<Int>([])[""] == nil)
    }
}
