import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What a stranger with a socket can do: another uid, over the real socket, on each kind of socket.
@Suite("A stranger at the door", .enabled(if: OtherUser.isPossible, "only root can connect as another user"))
struct StrangerTests {
    private static let nobody = OtherUser.stranger
    private static let ann: UInt32 = 47_113

    /// A daemon that lets everybody connect.
    private func openDaemon(
        settings: String = "{}",
        mappings: [String: String] = [:]
    ) async throws -> (daemon: DaemonProcess, mappings: TestFolder) {
        let folder = try TestFolder.mappings("")
        for (name, text) in mappings { try text.write(toFile: folder(name), atomically: true, encoding: .utf8) }
        let daemon = try await DaemonProcess(settings: settings, mappings: folder.path)
        chmod(daemon.folder.path, 0o755)
        chmod(daemon.socket, 0o666)
        return (daemon, folder)
    }

    private func connect(_ user: UInt32, _ socket: String) throws -> SocketClient {
        try OtherUser.act(as: user) { try SocketClient(path: socket) }
    }

    private func code(_ client: SocketClient, _ line: String) async throws -> String? {
        client.send("\(line)&id=1")
        return try await client.nextReply()?.code
    }

    private static let lamp = """
        lamp:
          help: Sets the lamp.
          parameters: [{name: level, type: integer, minimum: 0, maximum: 100}]
          business: ["script:brighten"]
          allow: {users: [root]}
        """

    @Test func `what a mapping guards has no second door, and its handler no other holder`() async throws {
        let (daemon, _) = try await openDaemon(mappings: ["60-lamp.yaml": Self.lamp])
        let script = try daemon.connect()
        _ = try await script.ask("call?cmd=registerHandler&msg=brighten&id=1")
        let stranger = try connect(Self.nobody, daemon.socket)
        #expect(try await code(stranger, "call?cmd=lamp&msg=5") == "denied")
        #expect(try await code(stranger, "call?cmd=brighten&msg=99999") == "unknownCommand")
        for name in ["brighten", "scriptHost"] {
            #expect(try await code(stranger, "call?cmd=registerHandler&msg=\(name)") == "denied")
        }
        script.close()
        #expect(try await code(stranger, "call?cmd=registerHandler&msg=brighten") == "denied")
        try await eventually("the refusals are in the log") {
            daemon.log.contains("audit: command=registerHandler allowed=no outcome=denied")
                && daemon.log.contains("audit: command=lamp allowed=no")
        }
    }

    @Test func `handlerCommands lets nobody answer for what a service of ours answers`() async throws {
        let (daemon, _) = try await openDaemon(settings: "handlerCommands: {users: [nobody]}")
        let stranger = try connect(Self.nobody, daemon.socket)
        let handlers = [
            "web", "kiosk", "data", "execute", "procedures", "macros", "macroFiles", "scriptHost", "mqtt", "action",
            "screen", "screenshot", "notify", "showDate", "showList",
        ]
        for name in handlers {
            stranger.send("call?cmd=registerHandler&msg=\(name)&id=1")
            let refusal = try #require(try await stranger.nextReply())
            #expect(refusal.code == "denied", "\(name)")
            let details = refusal.value.objectValue
            #expect(details?["location"]?.stringValue?.contains(".yaml:") == true, "\(name): \(refusal.message)")
        }
        // The daemon's user may, as where one user runs everything.
        let own = try daemon.connect()
        for name in handlers { #expect(try await code(own, "call?cmd=registerHandler&msg=\(name)") == nil, "\(name)") }
        // There are no warnings of services that are not installed.
        #expect(!daemon.log.contains("no user 'quickconnect-"))
    }

    @Test func `a squatter loses the name to who may make a command of it`() async throws {
        let (daemon, _) = try await openDaemon(settings: "handlerCommands: {users: [nobody]}")
        let (squatter, script) = (try connect(Self.ann, daemon.socket), try connect(Self.nobody, daemon.socket))
        #expect(try await code(squatter, "call?cmd=registerHandler&msg=brighten") == nil)
        #expect(try await code(script, "call?cmd=registerHandler&msg=brighten") == nil)
        let told = try #require(try await squatter.next())
        #expect(told.hasPrefix(#"{"error":{"cmd":"registerHandler","code":"denied""#), "\(told)")
        let own = try daemon.connect()
        own.send("call?cmd=brighten&msg=5&id=1")
        #expect(try await script.next()?.hasPrefix(#"{"handlerName":"brighten","#) == true)
        script.send(#"{"responseId":"q1","responseData":5}"#)
        #expect(try await own.nextReply()?.value == 5)
        #expect(try await code(squatter, "call?cmd=registerHandler&msg=brighten") == "busy")
    }

    @Test func `events obey the rules of commands, on the ordinary socket and on a listed one`() async throws {
        let folder = try TestFolder()
        chmod(folder.path, 0o755)
        let (daemon, _) = try await openDaemon(
            settings: "sockets: [{path: \(folder("guest")), mode: 0666, commands: [subscribe, ping]}]",
            mappings: [
                "60-rules.yaml": "loc: {allow: {users: []}}\nlocation: {allow: {users: []}}\n"
                    + "nearby: {allow: {users: []}}\n"
            ]
        )
        let stranger = try connect(Self.nobody, daemon.socket)
        #expect(try await code(stranger, "call?cmd=subscribe&msg=location") == "denied")
        #expect(try await code(stranger, "call?cmd=subscribe&msg=nearby") == "denied")
        #expect(try await code(stranger, "call?cmd=subscribe&msg=%5B%22news%22%2C%22location%22%5D") == "denied")
        #expect(try await code(stranger, "call?cmd=subscribe&msg=playState") == nil)
        for user in [Self.nobody, 0] {
            let guest = try connect(user, folder("guest"))
            for event in ["location", "nearby", "playState", "recState", "news", "handlers"] {
                #expect(try await code(guest, "call?cmd=subscribe&msg=\(event)") == "denied", "\(event)")
            }
        }
    }

    @Test func `a reload takes a subscription and a held handler in the middle`() async throws {
        let free = Self.lamp + "\n  answeredBy: {users: [nobody]}\nalarm: {view: []}\n"
        let (daemon, mappings) = try await openDaemon(mappings: ["60-lamp.yaml": free])
        let stranger = try connect(Self.nobody, daemon.socket)
        #expect(try await code(stranger, "call?cmd=registerHandler&msg=brighten") == nil)
        #expect(try await code(stranger, "call?cmd=subscribe&msg=alarm") == nil)
        let root = try daemon.connect()
        root.send("call?cmd=lamp&msg=5&id=lamp")
        #expect(try await stranger.next()?.contains(#""caller":{"uid":0,"user":"root"}"#) == true)
        try (Self.lamp + "\nalarm: {view: [], allow: {users: []}}\n").write(
            toFile: mappings("60-lamp.yaml"),
            atomically: true,
            encoding: .utf8
        )
        let other = try daemon.connect()
        #expect(try await code(other, "call?cmd=reload") == nil)
        var told: Set<String> = []
        for _ in 0..<2 {
            let line = try #require(try await stranger.next())
            for command in ["registerHandler", "subscribe"] where line.contains(command) { told.insert(command) }
        }
        #expect(told == ["registerHandler", "subscribe"])
        // The call that was under way is still his to answer.
        stranger.send(#"{"responseId":"q1","responseData":5}"#)
        #expect(try await root.nextReply()?.value == 5)
        #expect(try await code(other, "call?cmd=lamp&msg=5") == "unavailable")
        #expect(try await code(other, "call?cmd=post&msg=%5B%22alarm%22%2C1%5D") == nil)
        #expect(try await code(stranger, "call?cmd=registerHandler&msg=brighten") == "denied")
        #expect(try await code(stranger, "call?cmd=subscribe&msg=alarm") == "denied")
    }

    @Test func `a handler that nobody can call answers as soon as the line of its warning is in the mappings`()
        async throws
    {
        let (daemon, mappings) = try await openDaemon()
        let (stranger, root) = (try connect(Self.nobody, daemon.socket), try daemon.connect())
        stranger.send("call?cmd=registerHandler&msg=brighten&id=1")
        let told = try #require(try await stranger.nextReply()?.value.objectValue?["warning"]?.stringValue)
        let line = String(try #require(told.firstMatch(of: /with the line «(.+?)»/)?.output.1))
        let error = try await root.failure("brighten", [5])
        #expect(error["message"]?.stringValue?.contains("a client has registered") == true, "\(error)")
        for (user, expected) in [("root", "unavailable"), ("nobody", nil)] as [(String, String?)] {
            let text = line.replacing("[nobody]", with: "[\(user)]")
            try text.write(toFile: mappings("60-own.yaml"), atomically: true, encoding: .utf8)
            #expect(try await root.reply("reload", []).code == nil)
            root.send("call?cmd=brighten&msg=5&id=1")
            if let expected {
                #expect(try await stranger.next()?.contains("this client answers again") == true)
                #expect(try await root.nextReply()?.code == expected)
            } else {
                #expect(try await stranger.next()?.hasPrefix(#"{"handlerName":"brighten","#) == true)
                stranger.send(#"{"responseId":"q1","responseData":5}"#)
                #expect(try await root.nextReply()?.value == 5)
            }
        }
    }

    @Test func `a gateway's socket takes its user alone, and acts for whom it names`() async throws {
        let folder = try TestFolder()
        chmod(folder.path, 0o755)
        let (daemon, _) = try await openDaemon(
            settings: """
                sockets: [{path: \(folder("web")), mode: 0666, gateway: web, user: nobody, \
                commands: [ping, logMessage, can, reload, state]}]
                """,
            mappings: [
                "60-rules.yaml": """
                logMessage: {allow: {users: ["web:ann"], groups: ["web:ops"]}}
                ping: {allow: {users: [root, nobody]}}
                """
            ]
        )
        for user in [0, Self.ann] {
            let wrong = try connect(user, folder("web"))
            #expect(try await wrong.nextReply()?.code == "denied")
            #expect(try await wrong.next() == nil)
        }
        // The tool may be refused before it has sent anything, and says why nevertheless.
        let tool = try ChildProcess(Products.path("quickconnect"), ["call", "--socket", folder("web"), "ping"])
        try await tool.wait()
        #expect(tool.errors.contains("is the gateway web's ("), "\(tool.errors)")
        #expect(tool.errors.contains("other programs connect to the daemon's own socket"))
        let late = try connect(Self.nobody, folder("web"))
        #expect(try await code(late, "call?cmd=ping") == "denied")
        #expect(try await code(late, "call?cmd=actFor&msg=ann") == "denied")
        let twice = try connect(Self.nobody, folder("web"))
        #expect(try await code(twice, "call?cmd=actFor&msg=ann") == nil)
        #expect(try await code(twice, "call?cmd=logMessage&msg=hello") == nil)
        #expect(try await code(twice, "call?cmd=ping") == "denied")
        #expect(try await code(twice, "call?cmd=actFor&msg=root") == "denied")
        #expect(try await code(twice, "call?cmd=logMessage&msg=hello") == nil)
        let root = try connect(Self.nobody, folder("web"))
        #expect(try await code(root, "call?cmd=actFor&msg=%5B%22mqtt%3Aann%22%5D") == "invalid")
        #expect(try await code(root, "call?cmd=actFor&msg=root") == nil)
        for command in ["reload", "logMessage&msg=x", "ping", "hello"] {
            #expect(try await code(root, "call?cmd=\(command)") == "denied", "\(command)")
        }
        let plain = try connect(Self.nobody, daemon.socket)
        #expect(try await code(plain, "call?cmd=actFor&msg=ann") == "denied")
        try await eventually("the log knows the names") {
            daemon.log.contains("command=logMessage allowed=no outcome=denied seconds=0.000 gateway=web user=root")
        }
        let asked = try daemon.connect()
        asked.send("call?cmd=can&msg=%5B%22logMessage%22%2C%22web%3Aann%22%5D&id=1")
        #expect(try await asked.nextReply()?.value.objectValue?["allowed"] == true)
        asked.send(#"call?cmd=can&msg=["logMessage","web:x",{"groups":["ops"]}]&id=1"#)
        #expect(try await asked.nextReply()?.value.objectValue?["allowed"] == true)
        for user in ["web:x", "web:root"] {
            asked.send(#"call?cmd=can&msg=["logMessage","\#(user)"]&id=1"#)
            #expect(try await asked.nextReply()?.value.objectValue?["allowed"] == false)
        }
        asked.send(#"call?cmd=can&msg=["hello","web:ann"]&id=1"#)
        #expect(try await asked.nextReply()?.value.objectValue?["allowed"] == false)
        #expect(try await code(asked, "call?cmd=can&msg=%5B%22ping%22%2C%22mqtt%3Aann%22%5D") == "notFound")
    }

    @Test func `the doctor says which of the owner's entries gateways reach, and by what`() async throws {
        let (folder, own) = (try TestFolder(), try TestFolder())
        try own.write(
            """
            lamp: {value: {type: boolean, default: false}, allow: {groups: ["web:home"]}}
            visitors: {value: {type: integer, default: 1}}
            hidden: {view: []}
            volume: {allow: {users: ["web:ann"]}}
            gate: {view: [], allow: {users: ["wbe:ann"]}}
            """,
            to: "own.yaml"
        )
        try folder.write(
            """
            mappings: [\(Products.root)/mappings, \(own.path)]
            sockets:
              - {path: \(folder("web")), gateway: web, user: nobody, commands: [ping, visitors, volume]}
              - {path: \(folder("mqtt")), gateway: mqtt, user: nobody, commands: [ping]}
            """,
            to: "settings.yaml"
        )
        let daemon = try await daemon(in: folder)
        let report = try await SocketClient(path: folder("s")).value("doctor", []).objectValue
        daemon.send(SIGTERM)
        let findings = (report?["findings"]?.arrayValue ?? []).compactMap(\.objectValue)
        let told = findings.filter { $0["subject"] == "gateways" }
        try #require(told.count == 2, "\(told)")
        #expect(
            told[0]["state"] == "ok"
                && told[0]["says"]?.stringValue?.hasPrefix(
                    "users of the gateway 'web' reach of your own entries by their own rules lamp; by the list of its socket ("
                ) == true
                && told[0]["says"]?.stringValue?.contains("settings.yaml:3:5) visitors. Each") == true,
            "\(told[0])"
        )
        #expect(
            told[1]["state"] == "warning" && told[1]["tried"] == [.string("\(own("own.yaml")):5:25")]
                && told[1]["says"]
                    == "no socket of the settings has the gateway 'wbe', whose users gate names, did you mean 'web'?",
            "\(told[1])"
        )
    }

    /// A daemon with the settings of a folder, on the socket `s` in it.
    private func daemon(in folder: TestFolder) async throws -> ChildProcess {
        let process = try ChildProcess(
            Products.path("quickconnectd"),
            ["--simulate", "--config", folder("settings.yaml"), "--socket", folder("s"), "--media", folder("m")],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        )
        try await eventually("the daemon listens") { (try? SocketClient(path: folder("s"))) != nil }
        return process
    }

    @Test func `what a gateway's list lacks is told with what mends it, before the call and at it`() async throws {
        let (folder, own) = (try TestFolder(), try TestFolder())
        let rings = "rings: {value: {type: integer, default: 0}"
        try own.write("\(rings), allow: {groups: [\"web:home\"]}}\n", to: "a.yaml")
        try own.write("\(rings), allow: {groups: [\"web:home\"]}}\n", to: "b.yaml")
        try own.write("volume: {allow: {users: [\"web:ann\"]}}\nplain: {view: []}\n", to: "c.yaml")
        let list = "[explain, reload, can, doctor]"
        try folder.write(
            """
            mappings: [\(Products.root)/mappings, \(own.path)]
            sockets: [{path: \(folder("web")), gateway: web, user: nobody, commands: \(list)}]
            """,
            to: "settings.yaml"
        )
        let daemon = try await daemon(in: folder)
        let client = try SocketClient(path: folder("s"))
        func refusal(_ command: String) async throws -> String {
            let answer = try await client.value("can", [.string(command), "web:ann", ["groups": ["home"]]])
            return answer.objectValue?["message"]?.stringValue ?? ""
        }
        #expect(try await refusal("rings") == "", "two files say the same")
        let lack = "is not among the commands of the socket \(folder("web")) (\(folder("settings.yaml")):2:11); "
        let reload = "would allow it, once «quickconnect call reload» has read it"
        let place = "a rule that names users of web in the entry at \(own("c.yaml")):2:1 \(reload)"
        // Not with the rule as it would be: it has the names of others.
        #expect(try await refusal("plain") == "plain \(lack)\(place)")
        #expect(try await refusal("undeclared").contains("; so would an entry of your own that names its users"))
        let explained = try await client.value("explain", ["volume"]).objectValue?["unlisted"]?.objectValue
        #expect(explained?["web"]?.stringValue?.hasPrefix("volume \(lack)the line «commands: [") == true)

        // Their rules differ now, so that the first file's is no longer enough.
        try own.write("\(rings)}\n", to: "b.yaml")
        let warnings = try await client.value("reload", []).objectValue?["warnings"]?.arrayValue
        let told = warnings?.compactMap(\.stringValue) ?? []
        let line = "the line «allow: {groups: [web:home]}» in the entry at \(own("b.yaml")):1:1 \(reload)"
        let who = "this names users of the gateway 'web', who cannot call it: "
        for (file, text) in [("a.yaml", "rings \(lack)\(line)"), ("c.yaml", "volume \(lack)")] {
            let isTold = told.contains { $0.hasPrefix("\(own(file)):1:") && $0.contains("\(who)\(text)") }
            #expect(isTold, "\(text): \(told)")
        }
        let report = try await client.value("doctor", []).objectValue?["findings"]?.arrayValue ?? []
        let findings = report.compactMap { $0.objectValue?["says"]?.stringValue }
        #expect(findings.contains { $0.contains("\(who)rings") }, "\(findings)")
        let check = try ChildProcess(
            Products.path("quickconnectd"),
            ["--check", "--config", folder("settings.yaml")],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        )
        #expect(try await check.wait() == .status(0) && check.errors.contains("\(who)rings"), "\(check.errors)")
        daemon.send(SIGTERM)
    }

    @Test func `an entry that names a gateway's user is on its list, and a rule for another's entry is not`()
        async throws
    {
        let folder = try TestFolder()
        chmod(folder.path, 0o755)
        let (daemon, _) = try await openDaemon(
            settings: """
                sockets:
                  - {path: \(folder("web")), mode: 0666, gateway: web, user: nobody, commands: [commands, explain, subscribe]}
                  - {path: \(folder("mqtt")), mode: 0666, gateway: mqtt, user: nobody, commands: [commands]}
                """,
            mappings: [
                "60-own.yaml": """
                lamp: {value: {type: boolean, default: false}, allow: {groups: ["web:home"]}}
                fan: {value: {type: integer, default: 1}, set: {users: ["web:ann"]}}
                door: {view: [], allow: {users: ["mqtt:ha"]}}
                own: {view: []}
                wide: {view: [], allow: {users: ["web:bob"]}}
                volume: {allow: {users: ["web:ann"]}}
                """,
                "70-rule.yaml": """
                own: {allow: {users: ["web:ann"]}}
                wide: {allow: {users: ["web:bob", "web:ann"]}}
                """,
            ]
        )
        let ann = try connect(Self.nobody, folder("web"))
        #expect(
            try await code(ann, "call?cmd=actFor&msg=%5B%22ann%22%2C%7B%22groups%22%3A%5B%22home%22%5D%7D%5D") == nil
        )
        for command in ["wide", "lamp&msg=true", "fan&msg=2", "subscribe&msg=%5B%22lamp%22%2C%22fan%22%5D"] {
            #expect(try await code(ann, "call?cmd=\(command)") == nil, "\(command)")
        }
        for command in ["door", "own", "volume", "ping", "subscribe&msg=door"] {
            #expect(try await code(ann, "call?cmd=\(command)") == "denied", "\(command)")
        }
        let bob = try connect(Self.nobody, folder("web"))
        #expect(try await code(bob, "call?cmd=actFor&msg=bob") == nil)
        #expect(try await code(bob, "call?cmd=lamp") == "denied", "the list is not the rule")
        #expect(try await code(bob, "call?cmd=fan") == nil, "who may set it is not who may read it")
        #expect(try await code(bob, "call?cmd=fan&msg=3") == "denied")
        bob.send("call?cmd=commands&id=1")
        let listed = try await bob.nextReply()?.value.objectValue?.names.sorted()
        #expect(listed == ["commands", "explain", "fan", "lamp", "subscribe", "wide"])
        bob.send("call?cmd=explain&msg=fan&id=1")
        #expect(try await bob.nextReply()?.value.objectValue?["gateways"] == ["web"])
        let ha = try connect(Self.nobody, folder("mqtt"))
        #expect(try await code(ha, "call?cmd=actFor&msg=ha") == nil)
        #expect(try await code(ha, "call?cmd=door") == nil)
        #expect(try await code(ha, "call?cmd=lamp") == "denied")
        let asked = try daemon.connect()
        asked.send(#"call?cmd=can&msg=["fan","web:bob"]&id=1"#)
        #expect(try await asked.nextReply()?.value.objectValue?["allowed"] == true)
    }
}
