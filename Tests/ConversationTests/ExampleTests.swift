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
        let talker = try daemon.talker()
        try await talker.awaitCommand("rings")
        try await eventually("somebody is at the door") {
            _ = try await talker.value("post", ["doorbell", ["door": "front"]])
            return output(bell).contains("somebody is at the front door")
        }
        #expect(try await talker.value("rings", []).integerValue ?? 0 >= 1)
        try await eventually("the laser has been played") {
            try await talker.value("state", []).objectValue?["playing"]?.arrayValue?.isEmpty == true
                && daemon.simulatedSounds > 0
        }
    }

    @Test(arguments: ClientLanguage.installed)
    func `the door bell rings for programs in other languages, too`(language: ClientLanguage) async throws {
        let daemon = try await DaemonProcess()
        let bell = try language.start(example: "door-bell", socket: daemon.socket)
        let talker = try daemon.talker()
        try await talker.awaitCommand("rings")
        try await eventually("somebody is at the door") {
            _ = try await talker.value("post", ["doorbell", ["door": "front"]])
            return output(bell).contains("somebody is at the front door")
        }
        #expect(try await talker.value("rings", []).integerValue ?? 0 >= 1)
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
        let talker = try daemon.talker()
        _ = try await talker.value("subscribe", ["playState"])
        let before = Date()
        let clock = try run("talking-clock.js", "now", daemon: daemon)
        var heard: [String] = []
        while heard.count < 3, let reply = try await talker.nextReply() {
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
