import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What is recorded, and what root does with it, through the real service and the real daemon.
@Suite("Recorded data")
struct RecordedDataTests {
    private func entries(_ client: SocketClient) async throws -> Int64 {
        try await client.value("data", ["info"]).objectValue?["entries"]?.integerValue ?? -1
    }

    @Test func `a burst of ten thousand events loses none`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(settings: "record: [{event: door, keep: 1d}]")
        defer { withExtendedLifetime((daemon, service)) {} }
        try await eventually("door is recorded") {
            _ = try await client.value("post", ["door", 0])
            return try await entries(client) > 0
        }
        try await eventually("all so far are written") {
            let recording = try await client.value("procedures", []).objectValue?["recording"]?.objectValue
            return recording?["waiting"] == 0
        }
        let before = try await entries(client)
        for number in 1...10_000 { client.send("call?cmd=post&msg=%5B%22door%22,\(number)%5D") }
        #expect(try await client.value("ping", []) == .null)
        try await eventually("all are written") { try await entries(client) >= before + 10_000 }
        #expect(try await entries(client) == before + 10_000)
    }

    @Test func `who calls because of an event finds it recorded`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            ["count": ProcedureTests.count],
            settings: "record: [{event: door}]"
        )
        defer { withExtendedLifetime(service) {} }
        try await eventually("door is recorded") {
            _ = try await client.value("post", ["door", 0])
            return try await entries(client) > 0
        }
        let page = try daemon.connect()
        _ = try await page.value("subscribe", ["door"])
        let before = try await entries(client)
        for number in 1...100 {
            // Another thread of the service reads a long one.
            let event: JSONValue = ["door", .string(String(repeating: "x", count: number % 10 < 2 ? 100_000 : 1))]
            client.send("call?cmd=post&msg=\(PercentEncoding.encode(event.text))")
            while let reply = try await page.nextReply(), reply.command != "door" {}
            let found =
                number % 2 == 0
                ? try await entries(client) : try await page.value("execute", ["count", "door"]).integerValue
            #expect(found == before + Int64(number))
        }
    }

    @Test func `an event too large for an entry is left out, and those behind it are recorded`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(settings: "record: [{event: door}]")
        defer { withExtendedLifetime(daemon) {} }
        try await eventually("door is recorded") {
            _ = try await client.value("post", ["door", 0])
            return try await entries(client) > 0
        }
        _ = try await client.value("post", ["door", .string(String(repeating: "x", count: 2 << 20))])
        _ = try await client.value("post", ["door", "last"])
        try await eventually("the last is there") {
            try await daemon.client("data", "export").output.contains(#""last""#)
        }
        try await service.awaitErrors("an event 'door' of 2048 KiB is not recorded")
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `the data are root's, and a stranger holds no handler of theirs`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(["save": ProcedureTests.save])
        chmod(daemon.folder.path, 0o755)
        chmod(daemon.socket, 0o666)
        let stranger = try OtherUser.act(as: OtherUser.stranger) { try daemon.connect() }
        for verb in ["info", "backup", "export", "import"] {
            #expect(try await stranger.failure("data", [.string(verb)])["code"] == "denied", "\(verb)")
        }
        #expect(try await stranger.value("execute", ["save", "x"]) == 1)
        service.process.send(SIGKILL)
        _ = try await service.end()
        try await eventually("the handlers are free") {
            try await client.failure("execute", ["save", "x"])["code"] == "unavailable"
        }
        for name in ["execute", "data", "procedures"] {
            #expect(try await stranger.failure("registerHandler", [.string(name)])["code"] == "denied", "\(name)")
        }
    }

    @Test func `what was heard is written at the end, and is there again`() async throws {
        let folder = try TestFolder()
        let (daemon, service, client) = try await ProcedureTests.start(
            settings: "record: [{event: door}]",
            folder: folder
        )
        try await eventually("door is recorded") {
            _ = try await client.value("post", ["door", 0])
            return try await entries(client) > 0
        }
        let before = try await entries(client)
        // More than is written at once, so that the end comes while some is being written and some is still on its way.
        for number in 1...5000 { client.send("call?cmd=post&msg=%5B%22door%22,\(number)%5D&id=\(number)") }
        for _ in 1...5000 { #expect(try await client.nextReply()?.value == .null) }
        service.process.send(SIGTERM)
        #expect(try await service.end() == .status(0))
        let again = try ScriptProcess.procedures([:], daemon: daemon, folder: folder)
        defer { withExtendedLifetime(again) {} }
        try await client.awaitCommand("data")
        let after = try await entries(client)
        // Also those that were posted while it was not recorded yet.
        #expect(after >= before + 5000, "\(before), \(after)")
    }

    @Test func `backup, export and import, while it goes on`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start([
            "fill":
                "function execute(n, c) { for (let i = 0; i < n; i++) Context.context().save({kind: 'x', data: {i, t: 'ä\\n'}}); c() }"
        ])
        #expect(try await client.value("execute", ["fill", 1200]) == .null)
        let folder = service.folder
        #expect(try await daemon.client("data", "export", folder("out.jsonl")).exit == .status(0))
        let lines = try String(contentsOfFile: folder("out.jsonl"), encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 1200 && lines[0].contains("\"kind\":\"x\""))
        #expect(try await daemon.client("data", "backup", folder("copy.db")).exit == .status(0))
        let shell = try await ChildProcess.run("/usr/bin/sqlite3", [folder("copy.db"), "SELECT count(*) FROM entries"])
        #expect(shell.output == "1200\n")
        let again = try await daemon.client("data", "import", folder("out.jsonl")).output
        #expect(again == "0 new entries, 1200 were there.\n")
        try folder.write("{\"kind\":\"y\"}\n\n{\"kind\":\"z\",\"data\":[1]}\n", to: "in.jsonl")
        #expect(
            try await daemon.client("data", "import", folder("in.jsonl")).output == "2 new entries, 0 were there.\n"
        )
        try folder.write("{\"kind\":\"y\"}\nnothing\n", to: "in.jsonl")
        #expect(try await daemon.client("data", "import", folder("in.jsonl")).exit == .status(1))
        try folder.write("{\"colour\":\"y\"}\n", to: "in.jsonl")
        #expect(try await daemon.client("data", "import", folder("in.jsonl")).exit == .status(1))
        #expect(try await daemon.client("data", "info").output.hasPrefix("1202 entries"))
        #expect(try await client.failure("data", ["burn"])["code"] == "invalid")
    }

    @Test func `a file that cannot be used is said so, left as it is, and a good one is taken at the next start`()
        async throws
    {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("state"), withIntermediateDirectories: true)
        try folder.write("this is no database at all, and long enough to be seen as none", to: "state/data.db")
        let (daemon, service, client) = try await ProcedureTests.start(["save": ProcedureTests.save], folder: folder)
        let failure = try await client.failure("execute", ["save", "x"])
        #expect(failure["code"] == "unavailable", "\(failure)")
        #expect(try await client.failure("data", ["info"])["code"] == "unavailable")
        #expect(try await daemon.client("procedure", "list").output.contains("warning: "))
        #expect(try folder.data("state/data.db").starts(with: Data("this is no".utf8)))
        service.process.send(SIGTERM)
        #expect(try await service.end() == .status(0))
        try folder.remove("state/data.db")
        let again = try ScriptProcess.procedures([:], daemon: daemon, folder: folder)
        defer { withExtendedLifetime(again) {} }
        try await client.awaitCommand("data")
        #expect(try await client.value("execute", ["save", "x"]) == 1)
    }

    @Test func `a file that has become empty is kept aside and told, and a new one is begun`() async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("state"), withIntermediateDirectories: true)
        try folder.write("", to: "state/data.db")
        try folder.write("a log", to: "state/data.db-wal")
        let (daemon, service, client) = try await ProcedureTests.start(["save": ProcedureTests.save], folder: folder)
        #expect(service.errors.contains("data.db was empty when the service started"), "\(service.errors)")
        #expect(try await client.value("execute", ["save", "x"]) == 1)
        #expect(try await daemon.client("procedure", "list").output.contains("warning: "))
        let doctor = try await daemon.client("doctor").output
        #expect(doctor.contains("was empty when the service started"), "\(doctor)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("state"))
        let kept = names.filter { $0.hasPrefix("data.db.empty-") }.sorted()
        #expect(kept.count == 2 && kept.last?.hasSuffix("-wal") == true, "\(names)")
        #expect(try folder.data("state/\(kept.last ?? "")") == Data("a log".utf8))
        service.process.send(SIGTERM)
        #expect(try await service.end() == .status(0))
        for name in kept { try folder.remove("state/\(name)") }
        let again = try ScriptProcess.procedures([:], daemon: daemon, folder: folder)
        try await client.awaitCommand("data")
        #expect(try await client.value("data", ["info"]).objectValue?["entries"] == 1)
        #expect(!again.errors.contains("was empty"))
    }

    @Test func `a trigger that somebody has left in the file is told, and runs for nobody`() async throws {
        let folder = try TestFolder()
        let (daemon, service, client) = try await ProcedureTests.start(["save": ProcedureTests.save], folder: folder)
        #expect(try await client.value("execute", ["save", "x"]) == 1)
        service.process.send(SIGTERM)
        #expect(try await service.end() == .status(0))
        let trigger = "CREATE TRIGGER spy AFTER INSERT ON entries BEGIN UPDATE entries SET kind = 'spied'; END"
        _ = try await ChildProcess.run("/usr/bin/sqlite3", [folder("state/data.db"), trigger])
        let again = try ScriptProcess.procedures([:], daemon: daemon, folder: folder)
        try await client.awaitCommand("data")
        let failure = try await client.failure("execute", ["save", "y"])
        #expect(failure["code"] == "unavailable" && "\(failure)".contains("the trigger 'spy'"), "\(failure)")
        #expect(try await daemon.client("doctor").output.contains("the trigger 'spy'"))
        try await again.awaitErrors("the trigger 'spy'")
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can mount a small disk"))
    func `a full disk is told once, and recording goes on when there is room`() async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("state"), withIntermediateDirectories: true)
        let mounted = try await ChildProcess.run(
            "/usr/bin/mount",
            ["-t", "tmpfs", "-o", "size=3m", "none", folder("state")]
        )
        guard mounted.exit == .status(0) else { return }
        defer { umount2(folder("state"), Int32(MNT_DETACH)) }
        let (daemon, service, client) = try await ProcedureTests.start(
            settings: "record: [{event: door}]",
            folder: folder
        )
        let listener = try daemon.connect()
        #expect(try await listener.value("subscribe", ["dataState"]) == .null)
        try await eventually("door is recorded") {
            _ = try await client.value("post", ["door", 0])
            return try await entries(client) > 0
        }
        try folder.write(Data(repeating: 1, count: 2 << 20), to: "state/ballast")
        let text = String(repeating: "x", count: 2000)
        for _ in 0..<800 { _ = try await client.value("post", ["door", .string(text)]) }
        let stopped = try await listener.nextReply()?.value.objectValue
        #expect(stopped?["recording"] == false && stopped?["reason"] != nil)
        #expect(service.errors.contains("nothing is recorded: "))
        #expect(try await client.value("ping", []) == .null)
        let before = try await entries(client)
        try folder.remove("state/ballast")
        _ = try await ChildProcess.run("/usr/bin/mount", ["-o", "remount,size=64m", folder("state")])
        let goesOn = try await listener.nextReply()?.value.objectValue
        #expect(goesOn?["recording"] == true && goesOn?["lost"] == 0)
        try await eventually("what waited is written") { try await entries(client) > before }
        #expect(service.errors.components(separatedBy: "nothing is recorded").count == 2)
    }
}
