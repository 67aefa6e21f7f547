import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// Each example as it lies in `Examples/`, on simulated devices.
@Suite("The examples", .serialized)
struct ExampleTests {
    private func run(_ name: String, _ arguments: String..., daemon: DaemonProcess) throws -> ChildProcess {
        try ChildProcess(
            Products.path("quickconnect"),
            ["run", "\(Products.root)/Examples/\(name)"] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": daemon.folder.path, "QUICKCONNECT_SOCKET": daemon.socket]
        )
    }

    private func output(_ process: ChildProcess) -> String { String(decoding: process.standardOutput, as: UTF8.self) }

    @Test func `the door bell rings`() async throws {
        let daemon = try await DaemonProcess()
        let bell = try run("door-bell.js", daemon: daemon)
        let client = try daemon.connect()
        try await client.awaitCommand("rings")
        try await eventually("somebody is at the door") {
            _ = try await client.value("post", ["doorbell", ["door": "front"]])
            return output(bell).contains("somebody is at the front door")
        }
        #expect(try await client.value("rings", []).integerValue ?? 0 >= 1)
        try await eventually("the laser has been played") {
            try await client.value("state", []).objectValue?["playing"]?.arrayValue?.isEmpty == true
                && daemon.simulatedSounds > 0
        }
    }

    @Test func `a press without data is a press of the front door`() async throws {
        let daemon = try await DaemonProcess()
        let bell = try run("door-bell.js", daemon: daemon)
        let client = try daemon.connect()
        try await client.awaitCommand("rings")
        try await eventually("somebody is at the door") {
            _ = try await client.value("post", ["doorbell"])
            return output(bell).contains("somebody is at the front door")
        }
        #expect(try await client.value("rings", []).integerValue ?? 0 >= 1)
    }

    @Test(arguments: ClientLanguage.installed)
    func `a press without data is one for programs in other languages, too`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        let bell = try language.start(example: "door-bell", socket: daemon.socket)
        let client = try daemon.connect()
        try await client.awaitCommand("rings")
        try await eventually("somebody is at the door") {
            _ = try await client.value("post", ["doorbell"])
            return output(bell).contains("somebody is at the front door")
        }
    }

    @Test(arguments: ClientLanguage.installed)
    func `the door bell rings for programs in other languages, too`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        let bell = try language.start(example: "door-bell", socket: daemon.socket)
        let client = try daemon.connect()
        try await client.awaitCommand("rings")
        try await eventually("somebody is at the door") {
            _ = try await client.value("post", ["doorbell", ["door": "front"]])
            return output(bell).contains("somebody is at the front door")
        }
        #expect(try await client.value("rings", []).integerValue ?? 0 >= 1)
        try await eventually("the laser has been played") { daemon.simulatedSounds > 0 }
    }

    @Test func `the talking clock says its words one after the other`() async throws {
        let daemon = try await DaemonProcess()
        let words = ["it-is"] + (0..<60).map { "\($0)" }
        try FileManager.default.createDirectory(
            atPath: daemon.folder("media/words"),
            withIntermediateDirectories: true
        )
        for word in words {
            try PCM16(Signal.tone(440, seconds: 0.2)).wav
                .write(to: URL(fileURLWithPath: daemon.folder("media/words/\(word).wav")))
        }
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["playState"])
        let before = Date()
        let clock = try run("talking-clock.js", "now", daemon: daemon)
        var heard: [String] = []
        while heard.count < 3, let reply = try await client.nextReply() {
            let event = reply.value.objectValue ?? [:]
            if event["state"] == "ended" { heard.append(event["file"]?.stringValue ?? "") }
        }
        #expect(try await clock.wait() == .status(0))
        // The clock may have gone on to the next minute meanwhile.
        let expected = [before, Date()].map { date in
            let parts = Calendar.current.dateComponents(in: .current, from: date)
            return ["words/it-is.wav", "words/\(parts.hour ?? 0).wav", "words/\(parts.minute ?? 0).wav"]
        }
        #expect(expected.contains(heard), "\(heard)")
    }

    @Test func `the track logger writes a line for each change of place`() async throws {
        let daemon = try await DaemonProcess()
        let logger = try run("track-logger.js", daemon: daemon)
        try await eventually("three places") { output(logger).split(separator: "\n").count >= 4 }
        let lines = output(logger).split(separator: "\n").map { $0.split(separator: ",") }
        #expect(lines[0].joined(separator: ",") == "time,latitude,longitude,accuracy,metres")
        #expect(lines[1].count == 5 && lines[1][1].hasPrefix("51."))
        let metres = lines.dropFirst().compactMap { Double($0[4]) }
        #expect(metres == metres.sorted() && (metres.last ?? 0) > 0 && (metres.last ?? 99) < 20)
    }

    @Test func `a macro that reacts to the location moves a ring, and an edit counts at once`() async throws {
        let daemon = try await DaemonProcess()
        let macros = try ["follow", "moved"].map { name in
            (name, try String(contentsOfFile: "\(Products.root)/Examples/macros/\(name).js", encoding: .utf8))
        }
        let host = try ScriptProcess.host([:], daemon: daemon)
        defer { withExtendedLifetime(host) {} }
        let (client, listener) = (try daemon.connect(), try daemon.connect())
        for name in ["macroFiles", "macros"] { try await client.awaitCommand(name) }
        for (name, text) in macros { _ = try await client.value("macro", ["save", .string(name), .string(text)]) }
        #expect(try await listener.value("subscribe", ["outerProgress", "macroError"]) == .null)
        #expect(try await client.value("macro", ["run", "follow", 5]) == "the outer ring is full at 5 m")
        var rings: [Double] = []
        while rings.last ?? 0 <= 0, let event = try await listener.nextReply() {
            rings.append(try #require(event.value.numberValue, "\(event.value)"))
        }
        #expect(rings.first == 0 && rings.allSatisfy { (0...10).contains($0) }, "\(rings)")
        // Running it again begins anew from here, and reacts once to each place.
        _ = try await client.value("macro", ["run", "follow", 5])
        _ = try await client.value(
            "macro",
            ["save", "moved", "place => setOuterProgress(typeof place.latitude.length, 1)"]
        )
        while let event = try await listener.nextReply() {
            guard event.command == "macroError" else { continue }
            #expect(event.value.objectValue?["macro"] == "moved" && event.value.objectValue?["line"] == 1)
            break
        }
    }

    @Test(.enabled(if: ClientLanguage.python.isInstalled, "python3 is not installed"))
    func `a Python program answers a macro, and moves a value`() async throws {
        let daemon = try await DaemonProcess()
        let button = try ClientLanguage.python.start(example: "macro-button", socket: daemon.socket)
        let host = try ScriptProcess.host([:], macros: ["press.js": "n => makeCall('step', n)"], daemon: daemon)
        defer { withExtendedLifetime(host) {} }
        let client = try daemon.connect()
        for name in ["macroFiles", "macros", "step"] { try await client.awaitCommand(name) }
        #expect(try await client.value("macro", ["run", "press", 4]) == 4)
        #expect(try await client.value("macro", ["run", "press", 9.5]) == 10)
        #expect(try await client.failure("macro", ["run", "press", "far"])["code"] == "scriptFailed")
        try await button.awaitLine("the inner ring is at 4")
        try await button.awaitLine("the inner ring is at 10")
    }

    @Test func `a script counts its starts over restarts of the daemon`() async throws {
        let state = try TestFolder()
        let mappings = try TestFolder.mappings("")
        try FileManager.default.copyItem(
            atPath: "\(Products.root)/Examples/mappings/starts.yaml",
            toPath: mappings("starts.yaml")
        )
        for sentence in ["the first start\n", "start number 2\n", "start number 3\n"] {
            let daemon = try await DaemonProcess(["--simulate", "--media", state("media")], mappings: mappings.path)
            let counter = try run("start-counter.js", daemon: daemon)
            #expect(try await counter.wait() == .status(0))
            #expect(output(counter) == sentence, "\(String(decoding: counter.standardError, as: UTF8.self))")
            #expect(try await daemon.stop() == .status(0))
        }
    }

    @Test func `the alarm sounds when the device moves off`() async throws {
        let daemon = try await DaemonProcess()
        let alarm = try run("moves-off.js", "1", daemon: daemon)
        try await eventually("it has moved off") { output(alarm).contains("moved off by") }
        try await eventually("the laser has been played") { daemon.simulatedSounds > 0 }
    }
}

extension DaemonProcess {
    /// The sounds that the simulated loudspeaker has written.
    var simulatedSounds: Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder("simulated"))) ?? []
        return files.filter { $0.hasSuffix(".wav") }.count
    }
}
