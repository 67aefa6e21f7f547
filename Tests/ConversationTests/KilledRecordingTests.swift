import Foundation
import JSON
import TestRig
import Testing

/// A daemon that is killed while it records, again and again.
@Suite("A killed recording", .serialized)
struct KilledRecordingTests {
    private static let files = ["a.caf", "b.wav", "c.flac", "d.ogg"]

    /// Seconds that libsndfile reads from a file, by a program of its own, so that a broken file cannot hurt the test.
    private func seconds(_ path: String) async throws -> Double {
        let run = try await ChildProcess.run("sndfile-info", [path])
        #expect(run.exit == .status(0), "\(path): \(run.output)")
        let line = run.output.split(separator: "\n").first { $0.hasPrefix("Duration") } ?? ""
        let parts = line.split(separator: " ").last?.split(separator: ":").compactMap { Double($0) } ?? []
        return parts.reduce(0) { $0 * 60 + $1 }
    }

    @Test(.enabled(if: ChildProcess.isInstalled("sndfile-info"), "sndfile-programs is not installed"))
    func `after kill -9 a recording in any format is recovered`() async throws { try await kills(2, takeAtMost: nil) }

    @Test(.measured, .enabled(if: ChildProcess.isInstalled("sndfile-info"), "sndfile-programs is not installed"))
    func `kill -9 takes at most a second of a recording in any format, twenty times`() async throws {
        try await kills(20, takeAtMost: 1)
    }

    private func kills(_ kills: Int, takeAtMost most: Double?) async throws {
        let folder = try TestFolder()
        let media = folder("media")
        var recorded: [String: Double] = [:]
        for round in 0...kills {
            let daemon = try await DaemonProcess(["--simulate", "--media", media])
            for (file, expected) in recorded {
                let found = try await seconds("\(media)/\(file)")
                let lost = expected - found
                #expect(found > 0 && lost < most ?? .infinity, "\(file) lacks \(lost) s of \(expected) s")
                try await eventually("it is told") { daemon.log.contains("'\(file)' was cut off, and is recovered") }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: media).filter { $0.hasPrefix(".") } == [])
            guard round < kills else { break }
            recorded = try await recordAndKill(daemon, after: 1.1 + 0.7 * Double(round) / Double(kills))
        }
    }

    /// Records in all formats at once, and kills the daemon.
    /// - Returns: the seconds of each file when the daemon was killed.
    private func recordAndKill(_ daemon: DaemonProcess, after seconds: Double) async throws -> [String: Double] {
        let client = try daemon.connect()
        for file in Self.files { _ = try await client.value("rec", [.string(file)]) }
        try await client.awaitRecorded(seconds)
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
