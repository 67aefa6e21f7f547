import Foundation
import JSON
import TestRig
import Testing

/// Long answers of the services' hosts to one caller, before a daemon that does not read for a while, which is played here.
@Suite("Answers that wait in the hosts", .measured)
struct HostAnswerTests {
    /// What a host may have more while they wait: a share of 4 MiB, one answer on its way, and what making them takes.
    private static let budget = 24 << 20

    private func call(_ handler: String, _ data: JSONValue, by user: String, _ id: String) -> String {
        JSONValue.object([
            "handlerName": .string(handler), "data": data, "callbackId": .string(id), "command": .string(handler),
            "phase": "business", "results": [[:]], "caller": ["uid": 60_001, "user": .string(user)],
        ]).text
    }

    /// Answers the host's registrations.
    private func register(_ names: Set<String>, _ daemon: TinyDaemon) async throws {
        var left = names
        while !left.isEmpty {
            let name = try await daemon.answerNext()["data"]?.arrayValue?.first?.stringValue
            left.remove(name ?? "")
        }
    }

    /// Waits until a process does nothing any more. One that never sleeps does not come to that.
    private func awaitRest(_ process: ChildProcess) async throws {
        var (ticks, since) = ([String](), ContinuousClock.now)
        try await eventually("it rests", within: .seconds(60)) {
            let text = try String(contentsOfFile: "/proc/\(process.pid)/stat", encoding: .utf8)
            let now = text.split(separator: " ")[13...14].map(String.init)
            if now != ticks { (ticks, since) = (now, .now) }
            return ContinuousClock.now - since > .milliseconds(400)
        }
    }

    /// Has ann ask so often, then bob once, and reads all answers.
    private func expectTurns(
        _ host: ScriptProcess,
        _ daemon: TinyDaemon,
        _ handler: String,
        _ data: JSONValue,
        count: Int,
        bob: (handler: String, data: JSONValue)
    ) async throws {
        daemon.send(call(handler, data, by: "bob", "first"))
        let first = try await daemon.next()
        #expect(first.hasPrefix(#"{"responseId":"first","responseData":"#), "\(first.prefix(200))")
        try await awaitRest(host.process)
        let memory = host.residentBytes
        for number in 1...count { daemon.send(call(handler, data, by: "ann", "a\(number)")) }
        try await awaitRest(host.process)
        let more = host.residentBytes - memory
        #expect(more < Self.budget, "\(more >> 20) MiB for \(count) answers of \(first.utf8.count >> 10) KiB")
        daemon.send(call(bob.handler, bob.data, by: "bob", "b"))
        var ids: [String] = []
        while ids.count < count + 1 {
            let line = try await daemon.next()
            #expect(line.hasPrefix(#"{"responseId":""#) && line.contains(#","responseData":"#), "\(line.prefix(200))")
            ids.append(String(line.dropFirst(15).prefix { $0 != "\"" }))
        }
        // Those that are on their way come before his.
        #expect(try #require(ids.firstIndex(of: "b")) < 6, "\(ids)")
        #expect(Set(ids).count == count + 1)
    }

    @Test(
        arguments: [
            ("procedures", ["show", "long"]), ("procedures", ["show", "escaped"]), ("execute", ["long"]),
        ] as [(String, JSONValue)]
    )
    func `of the service of procedures`(handler: String, data: JSONValue) async throws {
        let folder = try TestFolder()
        try FileManager.default.createDirectory(atPath: folder("procedures"), withIntermediateDirectories: true)
        let text = String(repeating: "x", count: 1_000_000)
        try folder.write("function execute(c) { c('x'.repeat(1e6)) } // \(text)", to: "procedures/long.js")
        try folder.write("// " + String(repeating: "\u{1}", count: 300_000), to: "procedures/escaped.js")
        try folder.write("{}", to: "settings.yaml")
        let daemon = try TinyDaemon()
        let words = ["--procedures", "--config", folder("settings.yaml"), "--procedure-folder", folder("procedures")]
        let service = try ScriptProcess(Products.path("quickconnect-scripts"), words, folder, daemon.path)
        try await register(["execute", "procedures", "data"], daemon)
        try await expectTurns(service, daemon, handler, data, count: 40, bob: ("procedures", ["list"]))
    }

    @Test func `of the script host`() async throws {
        let folder = try TestFolder()
        for name in ["scripts", "macros"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        // Each is told as a problem, in a long sentence.
        for number in 1...600 {
            try folder.write("", to: "macros/\(String(repeating: "-", count: 100))\(number).js")
        }
        try folder.write("{}", to: "settings.yaml")
        let daemon = try TinyDaemon()
        let words = ["--config", folder("settings.yaml"), "--scripts", folder("scripts"), "--macros", folder("macros")]
        let host = try ScriptProcess(Products.path("quickconnect-scripts"), words, folder, daemon.path)
        try await register(["scriptHost", "macroFiles"], daemon)
        try await expectTurns(host, daemon, "macroFiles", ["list"], count: 200, bob: ("scriptHost", []))
    }
}
