import Foundation
import Glibc
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("A reload and the settings")
struct ReloadedSettingsTests {
    /// The texts of the doctor's findings on the settings.
    private func findings(_ client: SocketClient) async throws -> [String] {
        let report = try await client.value("doctor", []).objectValue?["findings"]?.arrayValue ?? []
        return report.compactMap(\.objectValue).filter { $0["subject"] == "settings" }.map { JSONValue.object($0).text }
    }

    /// What the reload names. The shipped mappings may have warnings, too.
    private func restart(_ client: SocketClient) async throws -> JSONValue? {
        try await client.value("reload", []).objectValue?["restart"]
    }

    @Test func `names what a restart takes up, and the doctor does until it is done or undone`() async throws {
        let daemon = try await DaemonProcess(settings: "recording: {limit: 2m}")
        let client = try daemon.connect()
        #expect(try await restart(client) == nil)
        try daemon.folder.write("# Laid out otherwise.\nrecording:\n  \"limit\": '2m'\n", to: "settings.yaml")
        #expect(try await restart(client) == nil)
        #expect(try await findings(client) == [])

        try FileManager.default.createDirectory(atPath: daemon.folder("settings.d"), withIntermediateDirectories: true)
        try daemon.folder.write("{recording: {quotaFiles: 7}, kiosk: {zoom: 2}, pcm: other}", to: "settings.d/a.yaml")
        try daemon.folder.write("recording: {limit: 3m}", to: "settings.yaml")
        let keys: JSONValue = ["pcm", "recording.limit", "recording.quotaFiles"]
        #expect(try await restart(client) == keys)
        let told = try await findings(client)
        #expect(told.count == 1 && told[0].contains("pcm, recording.limit, recording.quotaFiles"), "\(told)")

        try daemon.folder.remove("settings.d/a.yaml")
        try daemon.folder.write("recording: {limit: 2m}", to: "settings.yaml")
        #expect(try await restart(client) == nil)
        #expect(try await findings(client) == [])
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `warns of all that --check warns of`() async throws {
        let folder = try TestFolder()
        let own = """
            reload: {business: [ReloadBCO]}
            lamp: {value: {type: boolean}, set: {users: ["web:ann"]}}
            bell: {event: {type: any}}

            """
        try folder.write(own, to: "own.yaml")
        let daemon = try await DaemonProcess(mappings: folder.path)
        let client = try daemon.connect()
        #expect(try await client.value("reload", []).objectValue?["warnings"]?.arrayValue?.count == 1)
        let sockets = "[{path: other.sock, group: root, commands: [lamb]}]"
        let settings = "{record: [{event: bel}], track: none.json, kiosk: {page: /nowhere}, sockets: \(sockets)}"
        try daemon.folder.write(settings, to: "settings.yaml")
        let reloaded = try await client.value("reload", []).objectValue?["warnings"]?.arrayValue ?? []
        let flags = ["--simulate", "--config", daemon.folder("settings.yaml"), "--mappings", folder.path]
        let check = try ChildProcess(Products.path("quickconnectd"), flags + ["--check"])
        #expect(try await check.wait() == .status(0))
        let checked = check.errors.split(separator: "\n").filter { $0.hasPrefix("warning: ") }
        #expect(reloaded.compactMap(\.stringValue) == checked.map { String($0.dropFirst("warning: ".count)) })
        #expect(checked.count == 5, "\(check.errors)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `the doctor names files that are not what was read, until a reload`() async throws {
        let folder = try TestFolder()
        let own = """
            doctor: {parameters: [{name: what, type: string, optional: true}], business: [DoctorBCO]}
            reload: {business: [ReloadBCO]}
            explain: {parameters: [{name: command, type: string}], business: [ExplainBCO]}
            can: {business: [CanBCO]}

            """
        try folder.write(own, to: "own.yaml")
        let daemon = try await DaemonProcess(mappings: folder.path)
        let client = try daemon.connect()
        func unread() async throws -> String? {
            DoctorReport(try await client.value("doctor", []))?.findings.first { $0.subject == "files" }.map {
                #expect($0.fix == "quickconnect call reload" && $0.state == .warning)
                return String($0.says.drop { $0 != ":" })
            }
        }
        #expect(try await unread() == nil)
        try folder.write("lamp: {value: {type: boolean}}", to: "lamp.yaml")
        try daemon.folder.write("audit: false", to: "settings.yaml")
        #expect(
            try await unread()
                == ": \([folder("lamp.yaml"), daemon.folder("settings.yaml")].sorted().joined(separator: ", "))"
        )
        // Alone, and to who calls what may be in one of them.
        #expect(DoctorReport(try await client.value("doctor", ["files"]))?.findings.map(\.subject) == ["files"])
        for words in [["call", "lamp"], ["set", "lamp", "true"], ["can", "lamp"]] {
            let child = try daemon.startClient(words)
            _ = try await child.wait()
            let says = "'lamp' is in \(folder("lamp.yaml")), which the daemon has not read yet: «quickconnect call"
            #expect(child.errors.contains("\(says) reload»"), "\(child.errors)")
        }
        let other = try daemon.startClient(["call", "lmp"])
        _ = try await other.wait()
        #expect(other.errors.contains("changed since the daemon has read its files: /"), "\(other.errors)")
        // What has mistakes is not read either.
        try folder.write(own + "x", to: "own.yaml")
        client.send("call?cmd=reload&id=1")
        #expect(try await client.nextReply()?.code == "invalid")
        #expect(try await unread()?.contains(folder("own.yaml")) == true)
        try folder.write(own, to: "own.yaml")
        _ = try await client.value("reload", [])
        #expect(try await unread() == nil)
        try folder.remove("lamp.yaml")
        #expect(try await unread() == ": \(folder("lamp.yaml"))")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `the doctor names the program that takes a changed setting up`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let changed =
            "{web: {inlineScripts: true}, scripts: {memoryBytes: 99999999}, pcm: other, record: [{event: walk}]}"
        try daemon.folder.write(changed, to: "settings.yaml")
        #expect(try await restart(client) == ["pcm", "record", "scripts.memoryBytes", "web.inlineScripts"])
        let told = try await findings(client)
        // The service that records knows itself what it has taken up.
        let units = ["quickconnect-scripts", "quickconnect-web", "quickconnectd"]
        #expect(told.count == 3 && zip(told, units).allSatisfy { $0.contains("since the start of \($1):") }, "\(told)")
        // Who types the line is told what to type next.
        let tool = try daemon.startClient(["call", "reload"])
        _ = try await tool.wait()
        for (unit, key) in zip(units, ["scripts.memoryBytes", "web.inlineScripts", "pcm"]) {
            #expect(tool.errors.contains("a restart of \(unit) takes up the changed settings \(key)"), "\(tool.errors)")
        }
    }

    @Test func `what another program reads waits until that one is started`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        try daemon.folder.write("{pcm: other, record: [{event: walk}]}", to: "settings.yaml")
        #expect(try await restart(client) == ["pcm", "record"])
        let service = try ScriptProcess.procedures([:], daemon: daemon, settings: "record: [{event: walk}]")
        defer { withExtendedLifetime(service) {} }
        try await client.awaitCommand("data")
        #expect(try await restart(client) == ["pcm"])
        // A change undone for the daemon is one for who was started meanwhile.
        try daemon.folder.write("{}", to: "settings.yaml")
        #expect(try await restart(client) == ["record"])
    }

    @Test func `a program that runs on while the daemon is restarted has read nothing anew`() async throws {
        let state = try TestFolder()
        let steps: [(settings: String, keys: JSONValue?)] = [
            ("{}", nil), ("web: {inlineScripts: true}", ["web.inlineScripts"]), ("{}", nil),
        ]
        for (settings, keys) in steps {
            let daemon = try await DaemonProcess(["--simulate", "--media", state("media")], settings: settings)
            let client = try daemon.connect()
            // This process is the program.
            _ = try await client.value("registerHandler", ["web"])
            #expect(try await restart(client) == keys)
            #expect(try await findings(client).count == (keys == nil ? 0 : 1))
            #expect(try await daemon.stop() == .status(0))
        }
        // Another process has been started since.
        let text = String(decoding: try state.data("programs.json"), as: UTF8.self)
        try state.write(text.replacing("\"pid\":\(getpid()),", with: "\"pid\":1,"), to: "programs.json")
        let daemon = try await DaemonProcess(
            ["--simulate", "--media", state("media")],
            settings: "web: {inlineScripts: true}"
        )
        let client = try daemon.connect()
        _ = try await client.value("registerHandler", ["web"])
        #expect(try await restart(client) == nil)
    }

    @Test func `a mistake in the settings keeps the mappings, too, and is told with theirs`() async throws {
        let folder = try TestFolder()
        let own = "ping: {parameters: [], view: []}\nreload: {business: [ReloadBCO]}\n"
        try folder.write(own, to: "own.yaml")
        let daemon = try await DaemonProcess(mappings: folder.path)
        let client = try daemon.connect()
        try folder.write(own + "hello: {business: [HelloBCO]}\n", to: "own.yaml")
        try daemon.folder.write("sockets: [{path: x, commands: [], group: no-such-group}]", to: "settings.yaml")
        client.send("call?cmd=reload&id=1")
        let reply = try await client.nextReply()
        #expect(reply?.code == "invalid" && reply?.message.contains("no group 'no-such-group'") == true)
        client.send("call?cmd=hello&id=2")
        #expect(try await client.nextReply()?.code == "unknownCommand")

        try folder.write(own + "hello: {business: [HelloBC]}\n", to: "own.yaml")
        try daemon.folder.write("zoom: 1", to: "settings.yaml")
        client.send("call?cmd=reload&id=3")
        let both = try await client.nextReply()?.message ?? ""
        #expect(both.contains("unknown key 'zoom'") && both.contains("unknown command object 'HelloBC'"), "\(both)")

        try folder.write(own + "hello: {business: [HelloBCO]}\n", to: "own.yaml")
        try daemon.folder.write("{}", to: "settings.yaml")
        #expect(try await client.value("reload", []) == .null)
        client.send("call?cmd=hello&id=4")
        #expect(try await client.nextReply()?.value.objectValue?["protocol"] == 1)
        #expect(try await daemon.stop() == .status(0))
    }

    // MARK: What a reload takes up

    private static func guests(_ commands: String, more: String = "") -> String {
        "sockets: [{path: guest.sock, \(more)commands: [\(commands)]}]"
    }

    @Test func `a list of a socket holds from the next call, and subscriptions are checked again`() async throws {
        let daemon = try await DaemonProcess(settings: Self.guests("ping, subscribe, alarm, hello"))
        let (owner, neighbour) = (try daemon.connect(), try daemon.connect())
        let guest = try SocketClient(path: daemon.folder("guest.sock"))
        #expect(try await guest.value("hello", []) != .null)
        _ = try await guest.value("subscribe", ["alarm"])
        _ = try await neighbour.value("subscribe", ["alarm"])

        try daemon.folder.write(Self.guests("ping, subscribe, state"), to: "settings.yaml")
        #expect(try await restart(owner) == nil)
        let told = try await guest.nextReply()
        #expect(
            told?.code == "denied" && told?.message.contains("the event 'alarm'") == true,
            "\(String(describing: told))"
        )
        let refused = try await guest.failure("hello")
        #expect(refused["code"] == "denied" && refused["location"]?.stringValue?.contains("settings.yaml:1:11") == true)
        #expect(try await guest.value("state", []) != .null)
        // Nobody else is disturbed.
        _ = try await owner.value("post", ["alarm", 1])
        #expect(try await neighbour.nextReply()?.command == "alarm")

        try daemon.folder.write(Self.guests("ping, hello", more: "connections: 3, "), to: "settings.yaml")
        #expect(try await restart(owner) == ["sockets"], "but what makes the socket waits")
        #expect(try await guest.value("hello", []) != .null)
        #expect(try await guest.failure("state")["code"] == "denied")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.enabled(if: geteuid() == 0, "it needs another user"))
    func `who may register handlers is checked again`() async throws {
        let daemon = try await DaemonProcess(settings: "handlerCommands: {users: [nobody]}")
        let (owner, other) = (try daemon.connect(), try daemon.stranger())
        guard try await other.reply("registerHandler", ["lamp"]).code == nil else {
            Issue.record("nobody is not the stranger of this test")
            return
        }
        #expect(try await owner.value("explain", ["lamp"]) != .null)
        try daemon.folder.write("handlerCommands: {users: []}", to: "settings.yaml")
        #expect(try await restart(owner) == nil)
        #expect(try await other.nextMessage()?["error"]?.text.contains("is no command any more") == true)
        #expect(try await owner.failure("explain", ["lamp"])["code"] == "unknownCommand")
        try daemon.folder.write("handlerCommands: {users: [nobody]}", to: "settings.yaml")
        #expect(try await restart(owner) == nil)
        #expect(try await other.reply("registerHandler", ["lamp"]).code == nil)
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `limits, the audit and the level of the log change while it runs`() async throws {
        let daemon = try await DaemonProcess(settings: "{}")
        let client = try daemon.connect()
        let settings = """
            limits: {subscriptionsPerConnection: 2, handlersPerConnection: 1, connections: 2, lineBytes: 2000, depth: 9}
            audit: false
            logLevel: debug
            """
        try daemon.folder.write(settings, to: "settings.yaml")
        #expect(try await restart(client) == ["limits.depth"])
        _ = try await client.value("subscribe", ["a", "b"])
        #expect(try await client.failure("subscribe", ["c"])["code"] == "overloaded")
        _ = try await client.value("registerHandler", ["a"])
        #expect(try await client.failure("registerHandler", ["b"])["code"] == "overloaded")
        let second = try daemon.connect()
        second.send("call?cmd=logMessage&msg=" + String(repeating: "x", count: 3000))
        #expect(try await second.nextReply()?.code == "tooLarge")
        #expect(try await client.reply("logMessage", [.string(String(repeating: "y", count: 3000))]).code == nil)
        let third = try daemon.connect()
        #expect(try await third.nextReply()?.code == "overloaded")
        _ = try await client.value("playSound", ["beep"])
        try await eventually("it is told") { daemon.log.contains("yyyy") }

        try daemon.folder.write("{logLevel: error}", to: "settings.yaml")
        #expect(try await restart(client) == nil)
        _ = try await client.value("logMessage", ["unheard"])
        _ = try await client.value("subscribe", ["c"])
        _ = try await client.value("playSound", ["laser"])
        // The audit has no level.
        try await eventually("the call is in the log") { daemon.log.contains(#"arguments=["laser"]"#) }
        #expect(!daemon.log.contains(#"arguments=["beep"]"#), "\(daemon.log)")
        #expect(!daemon.log.contains("info script: unheard"), "\(daemon.log)")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a mistake keeps every setting`() async throws {
        let daemon = try await DaemonProcess(settings: Self.guests("ping, hello"))
        let owner = try daemon.connect()
        let guest = try SocketClient(path: daemon.folder("guest.sock"))
        try daemon.folder.write(
            Self.guests("ping") + "\nlimits: {subscriptionsPerConnection: 1, line: 3}",
            to: "settings.yaml"
        )
        let failure = try await owner.failure("reload")
        #expect(failure["code"] == "invalid")
        // It blames no file of mappings.
        let message = failure["message"]?.stringValue ?? ""
        #expect(
            message.hasPrefix("the old settings and mappings stay: ") && message.contains("settings.yaml:"),
            "\(message)"
        )
        #expect(try await guest.value("hello", []) != .null)
        _ = try await owner.value("subscribe", ["a", "b", "c"])
        #expect(try await daemon.stop() == .status(0))
    }
}
