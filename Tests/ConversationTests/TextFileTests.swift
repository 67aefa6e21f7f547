import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Files of people and programs of other systems: each reader takes them.
@Suite("Text files of other systems")
struct TextFileTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case windows = "CR LF"
        case old = "CR"
        case marked = "a byte order mark"

        var testDescription: String { rawValue }

        func written(_ text: String) -> String {
            switch self {
            case .windows: text.replacingOccurrences(of: "\n", with: "\r\n")
            case .old: text.replacingOccurrences(of: "\n", with: "\r")
            case .marked: "\u{FEFF}" + text
            }
        }
    }

    private static let mapping = """
        # A value
        lamp:
          value:
            type: boolean
            default: true

        """

    @Test(arguments: Kind.allCases)
    func `settings, mappings and tracks`(kind: Kind) async throws {
        let mappings = try TestFolder.mappings(kind.written(Self.mapping))
        try mappings.write(
            kind.written(
                """
                # A walk
                {"class":"TPV","mode":3,"lat":47.1,"lon":8.1,"alt":400}
                {"class":"TPV","mode":3,"lat":47.2,"lon":8.2,"alt":401}

                """
            ),
            to: "walk"
        )
        try mappings.write(
            kind.written(
                "# A fall\n{\"time\":0,\"x\":1,\"y\":2,\"z\":3}\n{\"time\":1,\"x\":1,\"y\":2,\"z\":3}\n"
            ),
            to: "fall"
        )
        let settings = "# Both\nsimulate: true\ntrack: \(mappings("walk"))\nmotion:\n  replay: \(mappings("fall"))\n"
        let daemon = try await DaemonProcess([], settings: kind.written(settings), mappings: mappings.path)
        let client = try daemon.connect()
        #expect(try await client.value("lamp", []) == true)
        #expect(try await client.value("accel", []).objectValue?["y"]?.numberValue == 2)
        client.send("call?cmd=subscribe&msg=location")
        var places: Set<JSONValue> = []
        for _ in 0..<2 {
            let event = try await client.nextReply()
            places.insert(event?.value.objectValue?["latitude"] ?? .null)
        }
        #expect(places == [47.1, 47.2], "\(places)")
    }

    @Test(arguments: Kind.allCases)
    func `scripts and macros`(kind: Kind) async throws {
        let daemon = try await DaemonProcess()
        let script = "// A comment\nconsole.log('loaded')\nfor (;;) {\n  throw new Error('here')\n}\n"
        let host = try ScriptProcess.host(
            ["bell.js": kind.written(script)],
            macros: ["three.js": kind.written("// Three\n() => {\n  return 3\n}\n")],
            daemon: daemon
        )
        let client = try daemon.connect()
        try await host.awaitErrors("bell.js:4")
        try await client.awaitCommand("macros")
        #expect(try await client.value("macro", ["run", "three"]) == 3)
        let shown = try await daemon.client("macro", "show", "three").output
        #expect(shown.contains("3    return 3\n"), "\(shown)")
        _ = try await client.value(
            "macro",
            ["save", "four", .string(kind.written("// Four\n() => {\n  return 4\n}\n"))]
        )
        #expect(try await client.value("macro", ["run", "four"]) == 4)
        let kept = try await client.value("macro", ["show", "four"]).objectValue?["text"]
        #expect(kept == "// Four\n() => {\n  return 4\n}\n")
    }

    @Test func `macros that differ in Unicode's form only, and files that are none`() async throws {
        let daemon = try await DaemonProcess()
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let host = try ScriptProcess.host(
            [:],
            macros: ["\(composed).js": "() => 'C'", "ok.JS": "() => 1"],
            daemon: daemon
        )
        // A dictionary would hold the names for equal.
        try host.folder.write("() => 'D'", to: "macros/\(decomposed).js")
        try host.folder.write("() => 1\0", to: "macros/nul.js")
        try FileManager.default.createDirectory(atPath: host.folder("macros/x.js"), withIntermediateDirectories: false)
        let client = try daemon.connect()
        try await host.awaitErrors("NUL byte")
        try await client.awaitCommand("macros")
        for (name, value) in [(composed, "C"), (decomposed, "D")] as [(String, JSONValue)] {
            #expect(try await client.value("macro", ["run", .string(name)]) == value)
            let shown = try await client.value("macro", ["show", .string(name)]).objectValue?["text"]
            #expect(shown == .string("() => '\(value.stringValue ?? "")'"))
        }
        let list = try await client.value("macro", ["list"]).objectValue
        let macros = list?["macros"]?.arrayValue?.compactMap(\.objectValue) ?? []
        #expect(macros.count { $0["from"] == "configuration" } == 3)
        let error = macros.first { $0["name"] == "nul" }?["error"]?.objectValue?["message"]?.stringValue
        #expect(error == "the file is no text: there is a NUL byte in line 1")
        let problems = list?["problems"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(problems.count == 2 && problems[0].contains("/macros/ok.JS: a macro is a regular file"), "\(problems)")
        #expect(problems.last?.contains("/macros/x.js: ") == true, "\(problems)")
    }

    @Test(arguments: Kind.allCases)
    func `procedures, their tests, and data`(kind: Kind) async throws {
        let twice = "// Twice\nfunction execute(n, c) {\n  c(2 * n)\n}\n"
        let (daemon, service, client) = try await ProcedureTests.start(["twice": kind.written(twice)])
        #expect(try await client.value("execute", ["twice", 4]) == 8)
        let folder = service.folder
        try folder.write(
            kind.written("[\n  {\"arguments\": [1], \"expected\": 2}\n]\n"),
            to: "procedures/twice.test.json"
        )
        let tested = try await daemon.client("procedure", "test", folder("procedures/twice.js"))
        #expect(tested.exit == .status(0), "\(tested.output)")
        try folder.write(kind.written("{\"kind\":\"y\"}\n\n{\"kind\":\"z\",\"data\":[1]}\n"), to: "in.jsonl")
        let output = try await daemon.client("data", "import", folder("in.jsonl")).output
        #expect(output == "2 new entries, 0 were there.\n")
        for (line, words) in [
            (kind.written("{\"kind\":\"t\n\n") + "\u{0}", "line 1 is not JSON"),
            ("{\"kind\":\"a\"}\n{\"kind\":\"b\",\"date\":\"gestern\"}", "(in lines 1 to 2)"),
        ] {
            try folder.write(line, to: "in.jsonl")
            try await refuses(folder("in.jsonl"), words, daemon)
        }
        try Data("{\"kind\":\"t\u{FC}r\"}\n".unicodeScalars.map { UInt8($0.value) }).write(
            to: URL(fileURLWithPath: folder("in.jsonl"))
        )
        for (path, words) in [(folder("in.jsonl"), "line 1 is not UTF-8"), (folder.path, "Is a directory")] {
            try await refuses(path, words, daemon)
        }
    }

    private func refuses(_ path: String, _ words: String, _ daemon: DaemonProcess) async throws {
        let child = try daemon.startClient(["data", "import", path])
        #expect(try await child.wait() == .status(1))
        #expect(child.errors.contains(words), "\(child.errors)")
    }
}
