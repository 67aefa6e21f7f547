import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Texts for which the engine's parser takes exponential time: whoever sends one waits, and nobody else.
@Suite("Texts that are dear to check")
struct DearTextTests {
    /// 240 characters; the parser takes hours.
    static let text = String(repeating: "([a=", count: 20) + "1" + String(repeating: "]=[])=>1", count: 20)

    private static func expectDear(_ failure: JSONObject) {
        #expect(failure["code"] == "invalid", "\(failure)")
        #expect(failure["message"] == "checking it takes longer than a second of processor time", "\(failure)")
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `a macro's is refused, while other macros go on and keep their globals`() async throws {
        let (daemon, host, client) = try await MacroTests.start([
            "count": "() => { n = (globalThis.n ?? 0) + 1; return n }"
        ])
        defer { withExtendedLifetime((daemon, host)) {} }
        let neighbour = try daemon.connect(as: OtherUser.stranger)
        #expect(try await neighbour.value("macro", ["run", "count"]) == 1)
        for id in 1...3 { client.send(Self.call("macro", ["check", "x", .string(Self.text)], id: "\(id)")) }
        var runs = 1
        // Texts of others do not wait for dear ones of another caller, but for the one that is being checked.
        #expect(try await neighbour.value("macro", ["check", "x", "() => 1"]) == .null)
        for _ in 1...3 {
            Self.expectDear(try #require(try await client.nextReply()?.value.objectValue))
            runs += 1
            #expect(try await neighbour.value("macro", ["run", "count"]) == .integer(Int64(runs)))
        }
        Self.expectDear(try await client.failure("macro", ["save", "x", .string(Self.text)]))
        #expect(try await neighbour.value("macro", ["run", "count"]) == 5)
        #expect(try await client.value("macro", ["save", "x", "() => 7;"]).objectValue?["version"] == 1)
        #expect(try await client.value("macro", ["run", "x"]) == 7)
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `a caller has a share of the queue`() async throws {
        let (daemon, host, client) = try await MacroTests.start([:])
        defer { withExtendedLifetime((daemon, host)) {} }
        for id in 1...12 { client.send(Self.call("macro", ["check", "x", .string(Self.text)], id: "\(id)")) }
        var codes: [String] = []
        for _ in 1...3 { codes.append(try await client.nextReply()?.code ?? "") }
        // One is being checked and eight wait.
        #expect(codes == ["overloaded", "overloaded", "overloaded"])
        let neighbour = try daemon.connect(as: OtherUser.stranger)
        #expect(try await neighbour.value("macro", ["check", "x", "() => 1"]) == .null)
    }

    @Test func `in the folder of macros it fails alone, at the start and later`() async throws {
        let (daemon, host, client) = try await MacroTests.start(["dear": Self.text, "good": "() => 1"])
        defer { withExtendedLifetime((daemon, host)) {} }
        #expect(try await client.value("macro", ["run", "good"]) == 1)
        func mistake(_ name: String) async throws -> JSONValue? {
            let macros = try await client.value("macro", ["list"]).objectValue?["macros"]?.arrayValue ?? []
            return macros.first { $0.objectValue?["name"] == .string(name) }?.objectValue?["error"]?.objectValue?[
                "message"
            ]
        }
        let message: JSONValue = "checking it takes longer than a second of processor time"
        #expect(try await mistake("dear") == message)
        #expect(try await client.failure("macro", ["run", "dear"])["code"] == "scriptFailed")
        try host.putMacro("() => { kept = 5; return kept }", as: "keeps")
        try await eventually("it is there") { try await client.reply("macro", ["run", "keeps"]).value == 5 }
        try host.putMacro(Self.text, as: "good")
        try await eventually("the text is refused") { try await mistake("good") == message }
        #expect(try await client.value("macro", ["run", "good"]) == 1)
        try host.putMacro("() => kept", as: "good")
        try await eventually("a good one is taken") { try await client.reply("macro", ["run", "good"]).value == 5 }
    }

    @Test func `a procedure's is refused, and the procedures of others do not wait`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            ["p": "function execute(c) { c(1) }", "dear": Self.text],
            settings: "procedures: {parallel: 1}"
        )
        defer { withExtendedLifetime((daemon, service)) {} }
        let neighbour = try daemon.connect()
        #expect(try await neighbour.value("execute", ["p"]) == 1)
        for id in 1...3 { client.send(Self.call("procedures", ["check", "x", .string(Self.text)], id: "\(id)")) }
        for _ in 1...20 { #expect(try await neighbour.value("execute", ["p"]) == 1) }
        for _ in 1...3 { Self.expectDear(try #require(try await client.nextReply()?.value.objectValue)) }
        Self.expectDear(try await client.failure("procedures", ["check", "dear"]))
        #expect(try await client.value("procedures", ["check", "p"]) == .null)
    }

    @Test func `a mistake in a very long word is told as one, and its caller's next text is checked`() async throws {
        let (daemon, host, client) = try await MacroTests.start([:])
        let service = try ScriptProcess.procedures([:], daemon: daemon)
        defer { withExtendedLifetime((daemon, host, service)) {} }
        try await client.awaitCommand("procedures")
        // The second is one character.
        for word in [String(repeating: "b", count: 70_000), "b" + String(repeating: "\u{301}", count: 70_000)] {
            for command in ["macro", "procedures"] {
                let failure = try await client.failure(command, ["check", "x", .string("a \(word)")])
                #expect(failure["code"] == "invalid" && failure["line"] == 1, "\(command): \(failure["code"] ?? .null)")
                let message = failure["message"]?.stringValue ?? ""
                #expect(message.hasPrefix("SyntaxError: ") && message.unicodeScalars.count <= 500)
                #expect((1...200).contains(failure["source"]?.stringValue?.unicodeScalars.count ?? 0))
            }
        }
        #expect(try await client.value("macro", ["check", "x", "() => 1"]) == .null)
    }

    private static func call(_ command: String, _ parameters: JSONValue, id: String) -> String {
        "call?cmd=\(command)&id=\(id)&msg=\(PercentEncoding.encode(parameters.text))"
    }
}
