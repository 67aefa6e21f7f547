import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("The daemon at its socket")
struct SocketTests {
    @Test func `a client that never reads is dropped, and costs no other client anything`() async throws {
        let daemon = try await DaemonProcess(settings: "limits: {stalledAfter: 1s}")
        let (deaf, other) = (try daemon.connect(), try daemon.connect())
        let calls = [UInt8](String(repeating: "call?cmd=commands&id=1\n", count: 2000).utf8)
        deaf.send(calls)
        for id in 0..<200 {
            #expect(try await other.ask("call?cmd=ping&id=\(id)") == "handleJSONRequest?cmd=ping&msg=null&id=\(id)")
        }
        try await eventually("the deaf client is dropped") { daemon.log.contains("dropped a client") }
        #expect(try await other.ask("call?cmd=ping&id=x") != nil)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a client that reads late gets every reply`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        // Some MB of replies: far more than socket buffers hold, so the daemon must pause and go on. Each tells of
        // sixteen parameters that ping does not take, and none waits, so they come in order.
        let surplus = Array(repeating: "1", count: 16).joined(separator: ",")
        let calls = (0..<1500).map { "call?cmd=ping&msg=[\(surplus)]&id=\($0)\n" }.joined()
        client.send([UInt8](calls.utf8))
        client.endInput()
        var expected = 0
        var size = 0
        while let reply = try await client.nextReply() {
            #expect(reply.id == "\(expected)")
            size += reply.value.text.utf8.count
            expected += 1
        }
        #expect(expected == 1500)
        #expect(size > 2 << 20)
    }

    @Test func `half a line and then the end leaves no trace`() async throws {
        let daemon = try await DaemonProcess()
        for _ in 0..<50 {
            let client = try daemon.connect()
            client.send([UInt8]("call?cmd=pi".utf8))
            client.close()
        }
        let client = try daemon.connect()
        client.send([UInt8]("call?cmd=ping&id=1\ncall?cmd=ping&id=2".utf8))
        client.endInput()
        #expect(try await client.rest() == ["handleJSONRequest?cmd=ping&msg=null&id=1"])
    }

    @Test func `a line of 10 MiB is tooLarge, and the next line is answered`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        client.send([UInt8]("call?cmd=logMessage&msg=".utf8))
        for _ in 0..<10 { client.send([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)) }
        client.send("")
        client.send("call?cmd=ping&id=after")
        #expect(try await client.nextReply()?.code == "tooLarge")
        #expect(try await client.nextReply()?.id == "after")
    }

    @Test func `500 connections are served at once`() async throws {
        let daemon = try await DaemonProcess()
        let clients = try (0..<500).map { _ in try daemon.connect() }
        for (index, client) in clients.enumerated() { client.send("call?cmd=hello&id=\(index)") }
        for (index, client) in clients.enumerated() { #expect(try await client.nextReply()?.id == "\(index)") }
    }

    @Test func `one connection more than the limit gets overloaded, and those open go on`() async throws {
        let daemon = try await DaemonProcess(settings: "limits: {connections: 8}")
        var clients: [SocketClient] = []
        // The connection by which the test saw that the daemon listens may still be open.
        try await eventually("eight are served") {
            let client = try daemon.connect()
            let answer = try await client.ask("call?cmd=ping&id=1")
            if answer?.contains("overloaded") == false { clients.append(client) }
            return clients.count == 8
        }
        let surplus = try daemon.connect()
        #expect(try await surplus.nextReply()?.code == "overloaded")
        #expect(try await surplus.next() == nil)
        #expect(try await clients[0].ask("call?cmd=ping&id=2") != nil)
    }

    @Test func `SIGTERM gives the calls under way their time, then cancelled, and exits with 0`() async throws {
        let daemon = try await DaemonProcess(settings: "limits: {shutdownAfter: 10s}")
        let (script, page) = (try daemon.connect(), try daemon.connect())
        _ = try await script.ask("call?cmd=registerHandler&msg=slow&id=r")
        page.send("call?cmd=slow&id=never")
        page.send("call?cmd=playSound&msg=0&id=sound")
        _ = try await script.nextMessage()
        page.send("call?cmd=ping&id=begun")
        #expect(try await page.nextReply()?.id == "begun", "and so are the calls before it")
        daemon.process.send(SIGTERM)
        let sound = try await page.nextReply()
        #expect(sound?.id == "sound" && sound?.value == .null, "\(String(describing: sound))")
        let never = try await page.nextReply()
        #expect(never?.id == "never" && never?.code == "cancelled")
        #expect(try await page.next() == nil)
        #expect(try await daemon.process.wait() == .status(0))
        #expect(access(daemon.socket, F_OK) != 0)
    }

    @Test func `the socket has mode 0660, a stale one is replaced, a live one is an error`() async throws {
        let daemon = try await DaemonProcess()
        var status = stat()
        stat(daemon.socket, &status)
        #expect(status.st_mode & 0o777 == 0o660)
        // Without that, the media folder is that of the tests' user.
        let words = [
            "--simulate", "--socket", daemon.socket, "--mappings", Products.root + "/mappings", "--media",
            daemon.folder("other"),
        ]
        let second = try await ChildProcess.run(
            Products.path("quickconnectd"),
            words
        )
        #expect(second.exit == .status(1))
        daemon.process.send(SIGKILL)
        try await daemon.process.wait()
        #expect(access(daemon.socket, F_OK) == 0)
        let third = try ChildProcess(
            Products.path("quickconnectd"),
            words
        )
        try await eventually("the stale socket is replaced") { (try? SocketClient(path: daemon.socket)) != nil }
        third.send(SIGTERM)
        #expect(try await third.wait() == .status(0))
    }

    @Test func `a reload with a mistake keeps the old table and says where`() async throws {
        let folder = try TestFolder()
        let file = folder("own.yaml")
        try "ping: {parameters: [], view: []}\nhello: {business: [HelloBCO]}\nreload: {business: [ReloadBCO]}\n"
            .write(toFile: file, atomically: true, encoding: .utf8)
        let daemon = try await DaemonProcess(mappings: folder.path)
        try "ping: {parameters: [], view: []}\nhello: {business: [HelloBC]}\n".write(
            toFile: file,
            atomically: true,
            encoding: .utf8
        )
        let client = try daemon.connect()
        client.send("call?cmd=reload&id=1")
        let reply = try await client.nextReply()
        #expect(reply?.code == "invalid")
        #expect(
            reply?.message.contains("own.yaml:2:20: unknown command object 'HelloBC', did you mean 'HelloBCO'?")
                ?? false
        )
        client.send("call?cmd=hello&id=2")
        #expect(try await client.nextReply()?.value.objectValue?["protocol"] == 1)
        try "ping: {parameters: [], view: []}\n".write(toFile: file, atomically: true, encoding: .utf8)
        daemon.process.send(SIGHUP)
        try await eventually("SIGHUP reloads") {
            client.send("call?cmd=hello&id=3")
            return try await client.nextReply()?.code == "unknownCommand"
        }
    }

    @Test func `mistakes of the command line, the settings and the mappings exit with 2`() async throws {
        let folder = try TestFolder()
        try "playSound:\n  veiw: [PlaySoundVCO]\n".write(toFile: folder("a.yaml"), atomically: true, encoding: .utf8)
        let daemon = Products.path("quickconnectd")
        for flags in [["--nope"], ["--check", "--mappings", folder.path], ["--config", folder("none.yaml")]] {
            #expect(try await ChildProcess.run(daemon, flags).exit == .status(2), "\(flags)")
        }
        let good = try await ChildProcess.run(daemon, ["--check", "--mappings", Products.root + "/mappings"])
        #expect(good.exit == .status(0))
    }

    @Test func `a check warns of a kiosk's page that is not there, and of nothing that is shipped`() async throws {
        let folder = try TestFolder()
        func warnings(_ page: String) async throws -> String {
            try folder.write("media: m\nkiosk:\n  page: \(page)\n", to: "s.yaml")
            let child = try ChildProcess(
                Products.path("quickconnectd"),
                ["--check", "--config", folder("s.yaml"), "--mappings", Products.root + "/mappings"]
            )
            #expect(try await child.wait() == .status(0))
            return String(decoding: child.standardError, as: UTF8.self)
        }
        let none = try await warnings("nofolder")
        #expect(
            none.hasPrefix("warning: \(folder("s.yaml")):3:9: 'page': the folder \(folder("nofolder")) does not exist")
                && none.hasSuffix("give a folder with an index.html, or an address\n")
                && none.split(separator: "\n").count == 1,
            "\(none)"
        )
        #expect(try await warnings("s.yaml").contains("s.yaml is not a folder, so"))
        try FileManager.default.createDirectory(atPath: folder("pages"), withIntermediateDirectories: false)
        #expect(try await warnings("pages").contains("pages has no index.html, so"))
        try folder.write("", to: "pages/index.html")
        for page in ["pages", "\"\(folder("pages"))\"", "https://example.org/nofolder"] {
            #expect(try await warnings(page).isEmpty, "\(page)")
        }
    }

    @Test func `a check warns of a gateway without a socket, and of a track that is not there`() async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("m"), withIntermediateDirectories: false)
        try folder.write("{track: nosuch.json, motion: {replay: m.jsonl}}", to: "s.yaml")
        try folder.write("x", to: "m.jsonl")
        try folder.write("stop: {view: []}", to: "m/a.yaml")
        let allow = #"allow: {users: ["wbe:ann"]}"#
        try folder.write(
            "stop: {\(allow)}\nlamp: {view: [], verbs: {on: {users: [\"wbe:ann\"], groups: [\"schedule:a\"]}}}",
            to: "m/own.yaml"
        )
        let child = try ChildProcess(
            Products.path("quickconnectd"),
            ["--check", "--config", folder("s.yaml"), "--mappings", folder("m")],
            environment: ["PATH": "/usr/bin:/bin", "CONFIGURATION_DIRECTORY": folder("cofnig")]
        )
        #expect(try await child.wait() == .status(0))
        #expect(
            String(decoding: child.standardError, as: UTF8.self) == """
                warning: CONFIGURATION_DIRECTORY: there is no folder \(folder("cofnig"))
                warning: \(folder("m/own.yaml")):1:15: no socket of the settings has the gateway 'wbe', whose users lamp, stop name
                warning: \(folder("m/own.yaml")):2:30: no socket of the settings has the gateway 'wbe', whose users lamp, stop name
                warning: 'track': there is no file \(folder("nosuch.json"))

                """
        )
    }

    @Test func `a check asks for the event that is meant to be recorded or published, and is silent about others`()
        async throws
    {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("m"), withIntermediateDirectories: false)
        let lists = "record: [{event: bel}, {event: bell}, {event: locaton}, {event: walk}]"
        let fleet = "mqtt: {broker: localhost, events: [bell, bll, far], values: [lamp, bell, lmap]}"
        try folder.write("\(lists)\n\(fleet)\n", to: "s.yaml")
        try folder.write(
            "lamp: {value: {type: boolean}}\nbell: {event: {type: object}}\nring: {business: [\"script:ring\"]}\n",
            to: "m/a.yaml"
        )
        let child = try ChildProcess(
            Products.path("quickconnectd"),
            ["--check", "--config", folder("s.yaml"), "--mappings", folder("m")]
        )
        #expect(try await child.wait() == .status(0))
        #expect(
            String(decoding: child.standardError, as: UTF8.self) == """
                warning: 'record': no file declares the event 'bel', did you mean 'bell'?
                warning: 'record': no file declares the event 'locaton', did you mean 'location'?
                warning: 'mqtt.events': no file declares the event 'bll', did you mean 'bell'?
                warning: 'mqtt.values': no file declares the value 'lmap', did you mean 'lamp'?
                note: \(folder("m/a.yaml")):3:19: the handler 'ring' may be registered only by root, the daemon's user and \
                the users of the setting handlerCommands (quickconnect-scripts if it is absent); with answeredBy: \
                {users: [NAME]} in the entry others may too

                """
        )
    }

    @Test func `a check knows what schedules set of the hardware, and the schedules that rules and lists name`()
        async throws
    {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("m"), withIntermediateDirectories: false)
        try folder.write(
            #"sockets: [{path: s, commands: [stop, "schedule:night", "schedule:nigth", "stop bell"]}]"#,
            to: "s.yaml"
        )
        let values = """
            stop: {view: []}
            lamp: {value: {type: boolean, gpio: {line: L1, output: true}}, set: {users: ["schedule:night", "schedule:nigh"]}}
            motor: {value: {type: boolean, gpio: {line: L2, output: true}, lease: connection}, set: {users: ["schedule:night"]}}
            bell: {value: {type: boolean, gpio: {line: L3}}}

            """
        func check(_ call: String) async throws -> (exit: ChildProcess.Exit, errors: String) {
            try folder.write(values + "night: {schedule: {at: sunset}, call: \(call)}\n", to: "m/a.yaml")
            let child = try ChildProcess(
                Products.path("quickconnectd"),
                ["--check", "--config", folder("s.yaml"), "--mappings", folder("m")]
            )
            return (try await child.wait(), String(decoding: child.standardError, as: UTF8.self))
        }
        for (call, says) in [
            ("[bell, true]", "'bell' cannot be set: it is read from gpio, which is an output only with 'output: true'"),
            ("[lamp, 7]", "/0: expected value, true or false, or a pattern in ms"),
            ("[lamp, [200, 0]]", "/0/1: expected whole milliseconds"),
            ("[lamp, true, {for: 2h}]", "/1/for: expected for,"),
            ("[lamp, true, {for: 0.5ms}]", "/1/for: expected for,"),
            ("[lamp, null, {add: 1}]", "/1/add: expected nothing"),
            ("[lamp, true, {fro: 5s}]", "/1/fro: expected for, a time such as 5s; got fro"),
        ] {
            let (exit, errors) = try await check(call)
            #expect(exit == .status(2) && errors.contains("a.yaml:5:40: the schedule 'night': \(says)"), "\(errors)")
        }
        let (exit, errors) = try await check("[motor, true]")
        #expect(exit == .status(0), "\(errors)")
        for says in [
            "a.yaml:5:40: the schedule 'night' sets 'motor', whose lease ends with the call",
            "a.yaml:2:69: no file declares the schedule 'nigh' of this rule, did you mean 'night'?",
            "s.yaml:1:38: 'schedule:night' is a caller; the command of that schedule is 'night'",
            "s.yaml:1:56: no file declares the schedule 'nigth', did you mean 'night'?; on a list it stands without",
            "s.yaml:1:74: no command 'stop bell' is mapped; write a comma between the names: stop, bell",
        ] { #expect(errors.contains(says), "\(errors)") }
        // Who subscribes to what is not on the list is told so then.
        #expect(!errors.contains("note: "), "\(errors)")
        #expect(!(try await check("[motor, true, {for: 5s}]").errors.contains("whose lease")))
        #expect(!(try await check("[lamp, true]").errors.contains("whose lease")))
        let pattern = try await check("[motor, [200, 100, 200]]")
        #expect(pattern.exit == .status(0) && pattern.errors.contains("declare 'motor' without 'lease'"), "\(pattern)")
    }

    @Test func `a check tells the mistakes of settings and of mappings at once`() async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("m"), withIntermediateDirectories: false)
        try folder.write("plays: 3\nmedia: [a]\nsockets: [{path: s, commands: [ping], group: nobodys}]\n", to: "s.yaml")
        try folder.write("ring:\n\tview: []\n", to: "m/a.yaml")
        try folder.write("lamp: {vew: []}\n", to: "m/b.yaml")
        try folder.write("\"a\\nb\": {vew: []}\n", to: "m/c\n.yaml")
        let child = try ChildProcess(
            Products.path("quickconnectd"),
            ["--check", "--config", folder("s.yaml"), "--mappings", folder("m")]
        )
        #expect(try await child.wait() == .status(2))
        let errors = String(decoding: child.standardError, as: UTF8.self)
        for told in [
            "s.yaml:1:1: unknown key 'plays'", "s.yaml:2:8: 'media'", "s.yaml:3:", "no group 'nobodys'",
            "m/a.yaml:2:1: YAML is not indented by tabs: use spaces", "m/b.yaml:1:8: unknown key 'vew'",
            #"m/c\n.yaml:1:10: unknown key 'vew' in 'a\nb'"#,
        ] { #expect(errors.contains(told), "\(told): \(errors)") }
        // The other programs, too.
        try folder.write("\"a\\nb\": 1\n", to: "t.yaml")
        for program in ["web", "scripts", "sync", "mqtt"] {
            let words = ["--config", folder("t.yaml")]
            let other = try ChildProcess(Products.path("quickconnect-\(program)"), words)
            #expect(try await other.wait() == .status(2))
            let told = String(decoding: other.standardError, as: UTF8.self)
            #expect(told.contains(#"unknown key 'a\nb' in the settings"#), "\(told)")
        }
    }

    @Test func `a reload tells warnings, and a handler whose name is a command's that no call comes to it`()
        async throws
    {
        let folder = try TestFolder()
        try folder.write("default: {}\n", to: "own.yml")
        let lines =
            "ping: {parameters: [], view: []}\nreload: {business: [ReloadBCO]}\nlamp: {business: ['script:lamp']}\n"
        let handlers = "registerHandler: {business: [RegisterHandlerBCO]}\n"
        try folder.write(lines + handlers, to: "own.yaml")
        let daemon = try await DaemonProcess(mappings: folder.path)
        let client = try daemon.connect()
        let told = try await client.value("reload", []).objectValue?["warnings"]?.arrayValue?.compactMap(\.stringValue)
        #expect(
            told?.count == 1 && told?.first?.contains("own.yml:1:1: this file is not read") == true,
            "\(told ?? [])"
        )
        try folder.remove("own.yml")
        #expect(try await client.value("reload", []) == .null)
        let ping = try await client.value("registerHandler", ["ping"]).objectValue?["warning"]?.stringValue
        #expect(ping?.contains("no call comes to this handler") == true)
        for name: JSONValue in ["lamp", "own"] { #expect(try await client.value("registerHandler", [name]) == .null) }
    }

    @Test func `a system sound has a name, too`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let sounds = try await client.value("sounds", []).arrayValue?.compactMap { $0.objectValue?["name"] } ?? []
        #expect(sounds.contains("laser.wav"))
        for name: JSONValue in ["laser", "laser.wav", 0, "0"] {
            let reply = try await client.reply("playSound", [name])
            #expect(reply.code == (name == "0" ? "invalid" : nil), "\(name)")
        }
        for wrong: JSONValue in ["lase", "", -2, 1.5, true, [], ["laser"], nil, "../laser", "LASER"] {
            let error = try await client.failure("playSound", [wrong])
            #expect(error["code"] == "invalid" && error["fields"]?.arrayValue?.first?.objectValue?["field"] == "/0")
        }
        let missing = try await client.failure("playSound", [99])
        #expect(missing["code"] == "notFound")
        #expect(missing["message"]?.stringValue?.hasSuffix("; 'sounds' lists them") == true)
    }

    @Test func `a recording's path begins at the root, also where the media folder was named otherwise`() async throws {
        let folder = try TestFolder()
        let words = [Products.path("quickconnectd"), "--simulate", "--socket", folder("s"), "--media", "media"]
        let process = try ChildProcess(
            "/bin/sh",
            ["-c", "cd \"$0\" && exec \"$@\"", folder.path] + words + ["--mappings", Products.root + "/mappings"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder("home")]
        )
        try await eventually("it listens") { (try? SocketClient(path: folder("s"))) != nil }
        let client = try SocketClient(path: folder("s"))
        _ = try await client.value("rec", ["take.wav", "start"])
        let stopped = try await client.value("rec", ["take.wav", "stop"]).objectValue
        #expect(stopped?["path"] == .string(folder("media/take.wav")) && folder.exists("media/take.wav"))
        withExtendedLifetime(process) {}
    }
}
