import Foundation
import JSON
import TestRig
import Testing

/// Fetched procedures through the real service and the real daemon.
@Suite("Fetched procedures")
struct FetchedProcedureTests {
    private static func says(_ text: String) -> String { "function execute(c) { c('\(text)') }" }

    private static func start(_ rig: SyncRig) async throws -> (DaemonProcess, ScriptProcess, SocketClient) {
        let settings = String(decoding: try rig.folder.data("settings.yaml"), as: UTF8.self)
        return try await ProcedureTests.start(settings: settings, folder: rig.folder)
    }

    private static func client(_ daemon: DaemonProcess, _ rig: SyncRig, _ words: String...) async throws -> (
        exit: ChildProcess.Exit, text: String
    ) {
        let child = try ChildProcess(
            Products.path("quickconnect"),
            words,
            environment: rig.environment.merging(["QUICKCONNECT_SOCKET": daemon.socket]) { $1 }
        )
        let exit = try await child.wait(within: .seconds(60))
        return (exit, String(decoding: child.standardOutput + child.standardError, as: UTF8.self))
    }

    @Test func `the example server's files are fetched by the client's command, and run`() async throws {
        let rig = try await SyncRig()
        let node = try ChildProcess(
            "node",
            [Products.root + "/Examples/procedure-server/server.js", "--folder", rig.folder("node"), "--port", "0"],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        let uploads = try await SyncRig.address(of: node)
        func put(_ name: String, _ text: String) async throws {
            #expect(
                try await ChildProcess.run("curl", ["-sf", "-X", "PUT", "-d", text, uploads + name]).exit == .status(0)
            )
        }
        try rig.settings("sync: \"\(uploads.replacingOccurrences(of: "/uploads/", with: ""))\"")
        try await put("one.js", "load('lib/word.js'); function execute(c) { c(word) }")
        try await put("lib/word.js", "var word = 'one'")
        let (daemon, service, client) = try await Self.start(rig)
        defer { withExtendedLifetime((daemon, service)) {} }
        #expect(try await client.failure("execute", ["one"])["code"] == "notFound")
        #expect(try await Self.client(daemon, rig, "procedure", "list").text.contains("the server has not been asked"))
        let config = rig.folder("settings.yaml")
        let first = try await Self.client(daemon, rig, "procedure", "sync", "--config", config)
        #expect(first.exit == .status(0) && first.text.contains("2 files, version 2 in place"), "\(first)")
        #expect(try await client.value("execute", ["one"]) == "one")
        try await put("lib/word.js", "var word = 'two'")
        let dry = try await Self.client(daemon, rig, "procedure", "sync", "--config", config, "--dry-run")
        #expect(dry.exit == .status(0) && dry.text.contains("changed  lib/word.js"), "\(dry)")
        #expect(try await client.value("execute", ["one"]) == "one")
        // The service sees by itself what has been fetched.
        #expect(try await rig.sync().exit == .status(0))
        try await eventually("it is in place") { try await client.value("execute", ["one"]) == "two" }
        #expect(try await Self.client(daemon, rig, "procedure", "list").text.contains("version 3 in place"))
        #expect(try await Self.client(daemon, rig, "doctor").text.contains("2 files, version 3 in place"))
    }

    @Test(arguments: [
        "<!DOCTYPE html><p>Welcome to our network", "OK", "function execute( {", "\u{FEFF}function execute( {",
    ])
    func `a file that is no procedure refuses the whole set, and what was there stays`(text: String) async throws {
        let rig = try await SyncRig()
        try rig.serve(["a.js": Self.says("old"), "b.js": Self.says("old")])
        #expect(try await rig.sync().exit == .status(0))
        let (daemon, service, client) = try await Self.start(rig)
        try await eventually("it is in place") { service.errors.contains("are in place") }
        try rig.serve(["a.js": Self.says("new"), "b.js": text], version: 2)
        let (exit, says) = try await Self.client(
            daemon,
            rig,
            "procedure",
            "sync",
            "--config",
            rig.folder("settings.yaml")
        )
        #expect(exit == .status(1) && says.contains("refused") && says.contains("b.js: "), "\(says)")
        if text == "function execute( {" { #expect(says.contains("(line 1, column 20)"), "\(says)") }
        for name: JSONValue in ["a", "b"] { #expect(try await client.value("execute", [name]) == "old") }
        let doctor = try await Self.client(daemon, rig, "doctor")
        #expect(doctor.exit == .status(1) && doctor.text.contains("error    refused"), "\(doctor.text)")
        try rig.serve(["a.js": Self.says("new")], version: 3)
        #expect(try await rig.sync().exit == .status(0))
        try await eventually("the next one is in place") { try await client.value("execute", ["a"]) == "new" }
        #expect(try await client.failure("execute", ["b"])["code"] == "notFound")
    }

    @Test func `what was fetched runs from the start without a network, and a changed staging folder is not believed`()
        async throws
    {
        let rig = try await SyncRig()
        try rig.serve(["a.js": Self.says("old")])
        #expect(try await rig.sync().exit == .status(0))
        do {
            let (daemon, service, client) = try await Self.start(rig)
            defer { withExtendedLifetime(daemon) {} }
            try await eventually("it is in place") { service.errors.contains("are in place") }
            #expect(try await client.value("execute", ["a"]) == "old")
            service.process.send(SIGTERM)
            try await service.process.wait()
        }
        rig.stop()
        let (exit, text) = try await rig.sync()
        #expect(exit == .status(1) && text.contains("unreachable"), "\(text)")
        try rig.folder.write(Self.says("forged"), to: "quickconnect-sync/staged/a.js")
        let record = String(decoding: try rig.folder.data("quickconnect-sync/staged/set.json"), as: UTF8.self)
        try rig.folder.write(
            record.replacingOccurrences(of: "\"version\":1", with: "\"version\":9"),
            to: "quickconnect-sync/staged/set.json"
        )
        let (daemon, service, client) = try await Self.start(rig)
        #expect(try await client.value("execute", ["a"]) == "old")
        let state = try await client.value("procedures", ["sync"]).objectValue ?? [:]
        #expect(state["refused"]?.stringValue?.contains("is not what set.json says") == true, "\(state)")
        #expect(state["last"]?.objectValue?["outcome"] == "unreachable")
        #expect(try await Self.client(daemon, rig, "doctor").text.contains("error    refused"))
        withExtendedLifetime(service) {}
    }

    @Test(.needs("openssl"))
    func `who fetches cannot put in place what the key has not signed`() async throws {
        let (rig, keys) = (try await SyncRig(), try await SigningKey())
        // As if the one who fetches did not look.
        try rig.serve(["a.js": Self.says("unsigned")])
        #expect(try await rig.sync().exit == .status(0))
        try rig.settings("sync: \"\(rig.address)\", key: \"\(keys.text)\"")
        let (daemon, service, client) = try await Self.start(rig)
        defer { withExtendedLifetime((daemon, service)) {} }
        let refused = try await client.value("procedures", ["sync"]).objectValue?["refused"]?.stringValue
        #expect(refused?.contains("not signed") == true, "\(refused ?? "")")
        #expect(try await client.failure("execute", ["a"])["code"] == "notFound")
        try await keys.sign(rig)
        #expect(try await rig.sync().exit == .status(0))
        try await eventually("it is in place") { service.errors.contains("are in place") }
        // An older one is not taken, even where what the fetcher knows of the newer one is gone.
        try rig.serve(["a.js": Self.says("older")], version: 0)
        try await keys.sign(rig)
        try rig.folder.remove("quickconnect-sync")
        #expect(try await rig.sync().exit == .status(0))
        let older = try await client.value("procedures", ["sync"]).objectValue?["refused"]?.stringValue
        #expect(older?.contains("older than the installed 1") == true, "\(older ?? "")")
        #expect(try await client.value("execute", ["a"]) == "unsigned")
    }

    @Test func `a service that is killed while it takes a set has the old one or the new one`() async throws {
        try await Self.killServices(5)
    }

    @Test(.slow) func `a service that is killed very often has the old set or the new one`() async throws {
        try await Self.killServices(50)
    }

    private static func killServices(_ rounds: Int) async throws {
        var random = SeededGenerator(seed: 7)
        let rig = try await SyncRig()
        let daemon = try await DaemonProcess()
        func set(_ number: Int) -> [String: String] {
            Dictionary(uniqueKeysWithValues: (0..<12).map { ("p\($0).js", says("\(number)")) })
        }
        var last: [String: String] = [:]
        let settings = String(decoding: try rig.folder.data("settings.yaml"), as: UTF8.self)
        for number in 1...rounds {
            try rig.serve(set(number), version: number)
            #expect(try await rig.sync().exit == .status(0))
            let service = try ScriptProcess.procedures([:], daemon: daemon, settings: settings, folder: rig.folder)
            // Sleeps into the middle of it.
            try await Task.sleep(for: .milliseconds(random.below(250)))
            service.process.send(SIGKILL)
            try await service.process.wait()
            let now = rig.staged(in: "state/procedures")
            #expect(now == last || now == set(number), "\(number)")
            last = now
        }
        let service = try ScriptProcess.procedures([:], daemon: daemon, settings: settings, folder: rig.folder)
        try await eventually("the last one is in place") { rig.staged(in: "state/procedures") == set(rounds) }
        withExtendedLifetime(service) {}
    }
}
