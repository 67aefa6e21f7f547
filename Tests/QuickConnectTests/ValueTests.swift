import CoreModel
import JSON
import QuickConnect
import Synchronization
import Testing

@Suite("Values of the device")
struct ValueTests {
    private static let place = SourceLocation(file: "values.yaml", line: 1, column: 1)

    /// Keeps in memory.
    private final class Memory: ValueKeeper {
        let kept: JSONObject
        private let asked = Mutex<(@Sendable () -> JSONObject)?>(nil)

        init(_ kept: JSONObject = [:]) { self.kept = kept }

        func keep(_ values: @escaping @Sendable () -> JSONObject) { asked.withLock { $0 = values } }

        /// What would be written now; nil where nothing has changed.
        var written: JSONObject? { asked.withLock { $0 }?() }
    }

    private static func number(_ minimum: Double? = 0, _ maximum: Double? = 10) -> Parameter {
        var parameter = Parameter("value", .number)
        (parameter.minimum, parameter.maximum) = (minimum, maximum)
        return parameter
    }

    private static let ring = ValueDeclaration(number(), initial: 0, clamps: true)

    private func withValue(
        _ value: ValueDeclaration = ring,
        users: [String]? = nil,
        set: [String]? = nil,
        _ test: (TestDaemon, TestClient) async throws -> Void
    ) async throws {
        try await withDaemon({ mappings in
            mappings.mapShipped()
            mappings.map("ring", users: users) { declaration in
                declaration.phases = [:]
                declaration.value = value
                declaration.set = set.map { names in
                    .init(users: names.map { Located($0, at: Self.place) }, location: Self.place)
                }
            }
        }) { daemon in try await test(daemon, daemon.connect()) }
    }

    private func answer(_ client: TestClient, _ data: String, _ command: String = "ring") async -> String {
        client.send(#"{"handlerName":"\#(command)","data":\#(data),"callbackId":"1"}"#)
        let line = await client.next()
        let value = line.wholeMatch(of: /\{"responseId":"1","responseData":(.*)\}/).map { String($0.output.1) }
        return value ?? line.firstMatch(of: /"code":"(\w+)"/).map { String($0.output.1) } ?? line
    }

    @Test("It is its default, then what was set, clamped into its bounds")
    func setting() async throws {
        try await withValue { _, client in
            for (data, expected) in [
                ("null", "0"), ("[]", "0"), ("[4]", "4"), ("2.5", "2.5"), ("null", "2.5"), ("99", "10"),
                ("-1e300", "0"),
                (#"["x"]"#, "invalid"), ("[true]", "invalid"), ("[1,2]", "invalid"), ("[[1]]", "invalid"),
                ("null", "0"),
            ] {
                #expect(await answer(client, data) == expected, "\(data)")
            }
        }
    }

    @Test("An integer is clamped however large the number is; a fraction is no integer")
    func clampedInteger() async throws {
        var integer = Parameter("value", .integer)
        (integer.minimum, integer.maximum) = (-5, 10)
        try await withValue(ValueDeclaration(integer, initial: 0, clamps: true)) { _, client in
            for (data, expected) in [
                ("7", "7"), ("11", "10"), ("1e308", "10"), ("-1e308", "-5"), ("9223372036854775808", "10"),
                ("1e19", "10"), ("3.0", "3"), ("2.5", "invalid"), ("99.5", "invalid"), ("true", "invalid"),
                ("null", "3"), (#"{"add":1e30}"#, "10"), (#"{"add":-1e30}"#, "-5"), (#"{"add":2.5}"#, "invalid"),
            ] {
                #expect(await answer(client, data) == expected, "\(data)")
            }
        }
    }

    @Test("Without clamp what does not fit is invalid, and says what fits")
    func unclamped() async throws {
        try await withValue(ValueDeclaration(Self.number(), initial: 5)) { _, client in
            client.send(#"{"handlerName":"ring","data":11,"callbackId":"1"}"#)
            #expect(await client.next().contains("expected value, a number from 0 to 10"))
            #expect(await answer(client, "null") == "5")
        }
    }

    @Test("Each set sends an event, after clamping, also where the value stays the same; a refused set sends none")
    func events() async throws {
        try await withValue { _, client in
            #expect(await answer(client, #"["ring"]"#, "subscribe") == "null")
            for (data, event) in [("50", "10"), ("50", "10"), ("3", "3")] {
                client.send(#"{"handlerName":"ring","data":\#(data)}"#)
                #expect(await client.next() == #"{"handlerName":"ring","data":\#(event)}"#)
            }
            #expect(await answer(client, #"["x"]"#) == "invalid")
            #expect(await answer(client, #"["ring",5]"#, "post") == "denied")
            #expect(await answer(client, "null") == "3")
        }
    }

    @Test("A subscription with {value: true} is only to values, and has the rights of others")
    func checkedSubscription() async throws {
        try await withValue { daemon, client in
            for (data, code, message) in [
                (#"["rink",{"value":true}]"#, "notFound", "there is no value 'rink', did you mean 'ring'?"),
                (#"["ring","ping",{"value":true}]"#, "notFound", "'ping' is a command, not a value"),
                (#"["news",{"value":true}]"#, "notFound", "there is no value 'news'"),
                (#"["ring",{"value":false}]"#, "invalid", "the event 'ring' takes no options"),
                (#"["ring",{"value":true,"rate":1}]"#, "invalid", "the event 'ring' takes no options"),
            ] {
                client.send(#"{"handlerName":"subscribe","data":\#(data),"callbackId":"1"}"#)
                let start = #"{"responseId":"1","error":{"cmd":"subscribe","code":"\#(code)","message":"\#(message)""#
                #expect(await client.next().hasPrefix(start), "\(data)")
            }
            #expect(daemon.events.subscriberCounts.isEmpty)
            #expect(await answer(client, #"["ring",{"value":true}]"#, "subscribe") == "null")
            client.send(#"{"handlerName":"ring","data":3}"#)
            #expect(await client.next() == #"{"handlerName":"ring","data":3}"#)
        }
        try await withValue(users: ["root"]) { daemon, client in
            #expect(await answer(client, #"["ring",{"value":true}]"#, "subscribe") == "denied")
            #expect(daemon.events.subscriberCounts.isEmpty)
        }
    }

    @Test("An event for many is written once, not once for each of them")
    func sharedEvents() throws {
        let hub = EventHub(limits: Limits())
        let clients = [NoConnection(), NoConnection()]
        for client in clients { try hub.subscribe(client, to: ["ring"], options: [:], form: .bridge) }
        hub.publish(Event("ring", ["a": "\u{e9}\n"], kind: .message))
        for client in clients {
            let event = try #require(client.lastEvent.withLock { $0 })
            guard case .text(let text) = event.message else {
                Issue.record("the value would be written for each")
                continue
            }
            #expect(text.value == ["a": "\u{e9}\n"])
        }
    }

    @Test("allow rules both, set narrows setting; events obey allow, and state shows what may be asked for")
    func rights() async throws {
        try await withValue(users: ["alice", "bob"], set: ["bob"]) { daemon, alice in
            let (bob, carol) = (daemon.connect(uid: 1001), daemon.connect(uid: 1002))
            #expect(await answer(alice, "3") == "denied")
            #expect(await answer(alice, "[null]") == "0")
            #expect(await answer(bob, "3") == "3")
            #expect(daemon.frontController.refusal(of: "ring", "set", for: alice.connection.caller)?.code == .denied)
            #expect(daemon.frontController.refusal(of: "ring", "set", for: bob.connection.caller) == nil)
            #expect(await answer(alice, "null") == "3")
            for data in ["null", "3"] { #expect(await answer(carol, data) == "denied") }
            #expect(await answer(carol, #"["ring"]"#, "subscribe") == "denied")
        }
    }

    @Test("A reload keeps a value that still fits, and makes it its default where it does not")
    func reload() async throws {
        try await withValue { daemon, client in
            #expect(await answer(client, "7") == "7")
            func reload(_ value: ValueDeclaration?) throws -> [String] {
                var mappings = TestMappings()
                mappings.mapShipped()
                if let value {
                    mappings.map("ring") { declaration in
                        declaration.phases = [:]
                        declaration.value = value
                    }
                }
                return daemon.router.replaceTable(try mappings.table(daemon.router, daemon.permissions))
            }
            #expect(try reload(ValueDeclaration(Self.number(0, 8), initial: 1)) == [])
            #expect(await answer(client, "null") == "7")
            let warnings = try reload(ValueDeclaration(Self.number(0, 5), initial: 1))
            #expect(
                warnings == [
                    "the value 'ring' was 7, which is not a number from 0 to 5; it becomes its default"
                ]
            )
            #expect(await answer(client, "null") == "1")
            #expect(try reload(nil) == [])
            #expect(await answer(client, "null") == "unknownCommand")
        }
    }

    @Test("What was kept is there again where it fits; only what is declared so is kept")
    func kept() throws {
        let memory = Memory(["a": 3, "b": 99, "c": 4])
        let store = ValueStore(EventHub(limits: Limits()), keeper: memory)
        func declaration(_ name: String, keeps: Bool) -> MappingDeclaration {
            var declaration = MappingDeclaration(Located(name, at: Self.place))
            declaration.value = ValueDeclaration(Self.number(), initial: 1, keeps: keeps)
            return declaration
        }
        var builder = MappingTableBuilder()
        for (name, keeps) in [("a", true), ("b", true), ("c", false)] { builder.add(declaration(name, keeps: keeps)) }
        let table = try builder.build(
            catalog: [:],
            scripts: { HandlerCommandObject($0, handlers: .none) },
            declared: { name, _ in ValueCommandObject(name, store) },
            accounts: TestAccounts()
        ).table
        #expect(store.adopt(table).count == 1)
        #expect(store["a"] == 3 && store["b"] == 1 && store["c"] == 1)
        #expect(memory.written == nil)
    }

    @Test("Events of many threads come in the order of the sets")
    func order() async throws {
        try await withValue(ValueDeclaration(Self.number(nil, nil), initial: 0)) { daemon, client in
            #expect(await answer(client, #"["ring"]"#, "subscribe") == "null")
            let clients = (0..<4).map { _ in daemon.connect() }
            await withTaskGroup(of: Void.self) { group in
                for (number, setter) in clients.enumerated() {
                    group.addTask {
                        for step in 0..<250 { setter.send("call?cmd=ring&msg=\(number * 1000 + step)") }
                    }
                }
            }
            var last = ""
            for _ in 0..<1000 { last = await client.next() }
            let value = try #require(daemon.router.values["ring"]).text
            #expect(last == #"{"handlerName":"ring","data":\#(value)}"#)
        }
    }

    @Test("Accessors of macros: a name with a capital, where that is an identifier and not taken")
    func accessors() {
        let names = ["innerProgress", "Inner", "inner", "a-b", "1st", "value", "timeout", "é", "$x", "_"]
        let suffixes = Dictionary(uniqueKeysWithValues: ValueAccessors.suffixes(of: names).map { ($0.name, $0.suffix) })
        #expect(suffixes["innerProgress"] == "InnerProgress" && suffixes["Inner"] == "Inner" && suffixes["é"] == "É")
        for name in ["inner", "a-b", "value", "timeout"] { #expect(suffixes[name] == .some(nil), "\(name)") }
        #expect(suffixes["$x"] == "$x" && suffixes["1st"] == "1st" && suffixes["_"] == "_")
    }
}
