import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// A daemon that is killed while it records, again and again.
@Suite("A killed recording", .serialized)
struct KilledRecordingTests {
    private static let files = ["a.caf", "b.wav", "c.flac", "d.ogg"]
    private static let kills = 20

    /// Seconds that libsndfile reads from a file, by a program of its own, so that a broken file cannot hurt the test.
    private func seconds(_ path: String) async throws -> Double {
        let run = try await ChildProcess.run("sndfile-info", [path])
        #expect(run.exit == .status(0), "\(path): \(run.output)")
        let line = run.output.split(separator: "\n").first { $0.hasPrefix("Duration") } ?? ""
        let parts = line.split(separator: " ").last?.split(separator: ":").compactMap { Double($0) } ?? []
        return parts.reduce(0) { $0 * 60 + $1 }
    }

    @Test(.enabled(if: ChildProcess.isInstalled("sndfile-info"), "sndfile-programs is not installed"))
    func `kill -9 takes at most a second of a recording in any format, twenty times`() async throws {
        let folder = try TestFolder()
        let media = folder("media")
        var recorded: [String: Double] = [:]
        for round in 0...Self.kills {
            let daemon = try await DaemonProcess(["--simulate", "--media", media])
            for (file, expected) in recorded {
                let missing = expected - (try await seconds("\(media)/\(file)"))
                #expect(missing < 1, "round \(round): \(file) lacks \(missing) s of \(expected) s")
                try await eventually("it is told") { daemon.log.contains("'\(file)' was cut off, and is recovered") }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: media).filter { $0.hasPrefix(".") } == [])
            if round < Self.kills { recorded = try await recordAndKill(daemon) }
        }
    }

    /// Records in all formats at once, and kills the daemon at a moment that nobody chose.
    /// - Returns: the seconds of each file when the daemon was killed.
    private func recordAndKill(_ daemon: DaemonProcess) async throws -> [String: Double] {
        let client = try daemon.connect()
        for file in Self.files { _ = try await client.value("rec", [.string(file)]) }
        try await client.awaitRecorded(1.1 + Double.random(in: 0...0.7))
        let state = try await client.value("state", []).objectValue?["recording"]?.arrayValue ?? []
        let asked = ContinuousClock.now
        #expect(state.count == Self.files.count)
        daemon.process.send(SIGKILL)
        let since = asked.duration(to: .now) / .seconds(1)
        #expect(try await daemon.process.wait() == .signal(SIGKILL))
        return state.compactMap(\.objectValue).reduce(into: [:]) { seconds, entry in
            seconds[entry["file"]?.stringValue ?? ""] = (entry["seconds"]?.numberValue ?? 0) + since
        }
    }
}
