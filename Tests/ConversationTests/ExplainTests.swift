import Foundation
import JSON
import TestRig
import Testing

/// What `explain` says of a command, to programs and to people.
@Suite("An explanation")
struct ExplainTests {
    private static let mapping = """
        beep:
          help: Beeps.
          answers: "null, when it is over"
          timeout: 3s
          parameters:
            - {name: pitch, type: integer, minimum: 1, maximum: 9, help: how high}
            - {name: tune, type: string, maxLength: 8, optional: true, default: plain, oneOf: [plain, siren]}
            - {name: options, type: object, optional: true, members: {loud: true or false, length: "seconds, up to 9"}}
          view: [LoggingVCO]
        silent:
          view: []
        """

    /// The lines for people, with one space between words.
    private func lines(_ daemon: DaemonProcess, _ command: String) async throws -> [String] {
        let result = try await daemon.client("explain", command)
        #expect(result.exit == .status(0))
        return result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }

    @Test func `has what a command answers, its parameters with their bounds, and the members of its options`()
        async throws
    {
        let folder = try TestFolder.mappings(Self.mapping, after: ["daemon.yaml"])
        let daemon = try await DaemonProcess(mappings: folder.path)
        let lines = try await lines(daemon, "beep")
        let wanted = [
            "beep pitch [tune] [options]", "Beeps.", "pitch integer, minimum 1, maximum 9: how high",
            #"tune string, optional, maxLength 8, default "plain", oneOf ["plain","siren"]"#,
            "options object, optional",
            "loud true or false", "length seconds, up to 9", "answers null, when it is over", "view LoggingVCO",
            "allowed to everybody who may connect", "timeout 3 s",
        ]
        #expect(lines.filter(wanted.contains) == wanted, "\(lines)")
        let json = try JSONParser.parse(try await daemon.client("explain", "--json", "beep").output).objectValue
        #expect(json?["answers"] == "null, when it is over" && json?["timeout"] == 3)
        try folder.write("beep: {allow: {users: [root]}}", to: "zz.yaml")
        _ = try await daemon.client("call", "reload")
        let places = try JSONParser.parse(try await daemon.client("explain", "--json", "beep").output).objectValue
        #expect(places?["locations"]?.arrayValue?.count == 2 && places?["location"] == json?["location"])
        #expect(try await self.lines(daemon, "beep").contains { $0.hasSuffix("/zz.yaml:1:1") })
        let options = json?["parameters"]?.arrayValue?.last?.objectValue
        #expect(options?["members"] == ["loud": "true or false", "length": "seconds, up to 9"])
        let silent = try await self.lines(daemon, "silent")
        #expect(silent.contains("parameters not checked") && !silent.contains { $0.hasPrefix("answers") }, "\(silent)")
    }

    @Test func `has the answer of each shipped command that does something, and the options of those with some`()
        async throws
    {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        let commands = try await client.value("commands", []).objectValue ?? [:]
        #expect(commands.count > 30)
        for name in commands.names {
            let entry = try await client.value("explain", [.string(name)]).objectValue
            guard entry?["event"] == nil else { continue }
            #expect(entry?["answers"]?.stringValue?.isEmpty == false, "\(name) does not say what it answers")
            for parameter in entry?["parameters"]?.arrayValue?.compactMap(\.objectValue) ?? []
            where parameter["type"] == "object" {
                #expect(parameter["members"]?.objectValue?.isEmpty == false, "\(name) does not say what its object has")
            }
        }
        let play = try await lines(daemon, "play")
        #expect(play.contains { $0.hasPrefix("answers null, when the first of it is heard") }, "\(play)")
        for option in ["volume ", "from ", "wait "] { #expect(play.contains { $0.hasPrefix(option) }, "\(play)") }
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `tells what a call failed of to root and to its caller, and to others no more than the code`() async throws {
        let door = "door: {help: Opens., parameters: [{name: pin, type: integer}], view: []}"
        let folder = try TestFolder.mappings(door, after: ["daemon.yaml"])
        let daemon = try await DaemonProcess(mappings: folder.path)
        chmod(daemon.folder.path, 0o755)
        let (caller, other, root) = (try daemon.stranger(), try daemon.connect(as: 47_113), try daemon.connect())
        for _ in 0..<2 { #expect(try await caller.reply("door", ["my pin is 4711"]).code == "invalid") }
        func lastError(_ client: SocketClient) async throws -> JSONObject {
            let error = try await client.value("explain", ["door"]).objectValue?["lastError"]?.objectValue ?? [:]
            #expect(error["code"] == "invalid" && error["count"] == 2 && error["secondsAgo"] != nil, "\(error)")
            return error
        }
        #expect(try await lastError(other).names == ["code", "secondsAgo", "count"])
        for client in [caller, root] {
            let error = try await lastError(client)
            #expect(error["message"]?.stringValue?.contains("my pin is 4711") == true)
            #expect(error["caller"]?.objectValue?["uid"] == .integer(Int64(OtherUser.stranger)))
        }
        let seen = try await lines(daemon, "door").first { $0.hasPrefix("last error") } ?? ""
        #expect(seen.contains(#/^last error invalid: .*4711.* \(\d+ s ago, 2 in all\)$/#), "\(seen)")
        let command = [Products.path("quickconnect"), "explain", "door"]
        let flags = ["--reuid", "47113", "--regid", "47113", "--clear-groups"]
        let unseen = try await ChildProcess.run(
            "setpriv",
            flags + command,
            environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
        )
        let row = unseen.output.split(separator: "\n").first { $0.hasPrefix("last error") } ?? ""
        #expect(row.contains(#/invalid \(\d+ s ago, 2 in all; root and its caller see its text\)/#), "\(unseen)")
    }

    @Test func `shows what would steer a terminal escaped, as the list does, and JSON has it as it is`() async throws {
        let lamp = #"lamp: {help: "A \u001B[31mred\u202E lamp.", value: {type: integer}}"#
        let folder = try TestFolder.mappings(lamp, after: ["daemon.yaml"])
        let daemon = try await DaemonProcess(mappings: folder.path)
        for words in [["list"], ["explain", "lamp"]] {
            let text = try await daemon.client(words).output
            #expect(text.contains(#"A \u{1b}[31mred\u{202e} lamp."#), "\(text)")
            #expect(
                text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control },
                "\(text)"
            )
        }
        let json = try JSONParser.parse(try await daemon.client("explain", "--json", "lamp").output)
        #expect(json.objectValue?["help"] == "A \u{1b}[31mred\u{202e} lamp.")
    }

    @Test func `of playSound says that it takes a number or a name`() async throws {
        let lines = try await lines(try await DaemonProcess(), "playSound")
        let parameter = lines.drop { !$0.hasPrefix("sound any") }.prefix(3).joined(separator: " ")
        #expect(parameter.contains("an integer, its number") && parameter.contains("or a string, its name"), "\(lines)")
    }
}
