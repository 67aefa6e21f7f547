import Foundation
import Linux
import TestRig
import Testing

/// What `quickconnect setup home` asks at a terminal, and what it says where a part is missing.
@Suite("Set-up's questions and refusals")
struct SetupAnswerTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("media: \(folder("media"))\nmappings: [\(Products.root)/mappings]\n", to: "quickconnectd.yaml")
    }

    private func run(_ program: String, _ words: [String], input: String = "/dev/null") async throws
        -> (ChildProcess.Exit, output: String, errors: String)
    {
        let child = try ChildProcess(
            program,
            words,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "SHELL": "/bin/sh", "STATE_DIRECTORY": folder("state"),
            ],
            input: input
        )
        let exit = try await child.wait()
        return (exit, String(decoding: child.standardOutput, as: UTF8.self), child.errors)
    }

    private func words(_ more: String...) -> [String] {
        ["setup", "home", "--config", folder("quickconnectd.yaml"), "--socket", folder("socket"), "--name", "ann"]
            + more
    }

    /// Runs it at a terminal, at which these lines are typed.
    private func atTerminal(_ lines: String) async throws -> String {
        try folder.write(lines, to: "typed")
        let command = ([Products.path("quickconnect")] + words()).map(\.shellWord).joined(separator: " ")
        let answer = try await run("script", ["-qec", command, "/dev/null"], input: folder("typed"))
        return answer.output
    }

    @Test(
        .enabled(if: ChildProcess.isInstalled("script"), "script(1) is not installed"),
        .enabled(if: !LocalNetwork.all.isEmpty, "a machine without a network")
    )
    func `an unclear answer closes nothing, and a clear one is said`() async throws {
        let network = try #require(LocalNetwork.all.first).interface
        let opened = try await run(Products.path("quickconnect"), words("--network", network))
        #expect(opened.0 == .status(0) && !opened.output.contains("no longer"), "\(opened)")
        let settings = folder("settings.d/setup-home.yaml")
        #expect(try String(contentsOfFile: settings, encoding: .utf8).contains("# Network: \(network)"))

        let asked = try await atTerminal("perhaps\nyes please\n\n")
        #expect(asked.contains("Please answer y or n; Enter alone is y."), "\(asked)")
        #expect(asked.components(separatedBy: "? [Y/n]").count == 4, "three times: \(asked)")
        #expect(!asked.contains("no longer open"), "\(asked)")
        #expect(try String(contentsOfFile: settings, encoding: .utf8).contains("# Network: \(network)"))

        let closed = try await atTerminal("No\n")
        #expect(closed.contains("The pages are no longer open to \(network)."), "\(closed)")
        #expect(try !String(contentsOfFile: settings, encoding: .utf8).contains("# Network: "))
        let stillClosed = try await atTerminal("\n")
        #expect(stillClosed.contains("[y/N]") && !stillClosed.contains("no longer open"), "\(stillClosed)")
    }

    @Test func `undo without a gateway says who is left, and leaves what the gateway needs`() async throws {
        let client = Products.path("quickconnect")
        #expect(try await run(client, words("--network", "none")).0 == .status(0))
        try FileManager.default.createDirectory(atPath: folder("state"), withIntermediateDirectories: true)
        let users = """
            [{"name":"ann","groups":["home"],"fingerprint":"0","created":0},{"name":"bob","groups":["staff"],"fingerprint":"0",\
            "created":0},{"name":"carla","groups":["home"],"fingerprint":"0","created":0}]
            """
        try folder.write(users, to: "state/users.json")
        let refused = try await run(client, words("--undo"))
        #expect(
            refused.0 == .status(1)
                && refused.errors == """
                    quickconnect: web:ann, web:carla could not be removed, because no gateway answers: start it, and say --undo \
                    again

                    """,
            "\(refused)"
        )
        #expect(folder.exists("settings.d/setup-home.yaml"))
        try folder.write("[]", to: "state/users.json")
        let undone = try await run(client, words("--undo"))
        #expect(undone.0 == .status(0) && !folder.exists("settings.d/setup-home.yaml"), "\(undone)")
    }
}
