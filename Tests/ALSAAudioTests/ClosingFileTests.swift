import Concurrency
import Foundation
import JSON
import MediaFolder
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import ALSAAudio

/// A writer that closes a file for as long as a test wants.
private final class SlowWriter: MediaWriter {
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    func whenClosed(_ name: MediaName, _ body: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(body) } }

    func finish() {
        let bodies = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for body in bodies { body() }
    }
}

extension SoundTests {
    /// Files that shall play while they are being closed.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct ClosingFileTests {
        private func player(_ rig: FilePlayerRig, _ writer: any MediaWriter) -> ALSAFilePlayer {
            let media = MediaFolder(path: rig.folder("media"))
            return ALSAFilePlayer(folder: media, mixedInto: rig.sounds, writtenBy: writer, logger: rig.log.logger)
        }

        @Test(arguments: ["caf", "wav", "flac", "opus"])
        func `a recording can be played right behind its stop, and what plays is the new one`(
            ending: String
        ) async throws {
            let rig = try await RecorderRig()
            let name = "take.\(ending)"
            let sounds = ALSASoundPlayer(output: .named("null"), sounds: .none, logger: rig.log.logger)
            let media = MediaFolder(path: rig.folder("media"))
            let player = ALSAFilePlayer(
                folder: media,
                mixedInto: sounds,
                writtenBy: rig.recorder,
                logger: rig.log.logger
            )
            for limit in [0.1, 60] {
                #expect(await rig.start(name, .init(limit: limit)).code == nil)
                if limit < 1 { try await rig.awaitEnd() } else { try await rig.awaitRecorded(0.3) }
            }
            let stopped = rig.recorder.stop(name) { _ in true }
            let played = player.start(name, .init(from: 0.2), for: .daemon)
            #expect(await outcome(stopped).code == nil)
            #expect(await outcome(played).code == nil)
            player.close()
            await sounds.close()
        }

        @Test func `nothing is played as long as the file is not whole`() async throws {
            let rig = try await FilePlayerRig()
            let writer = SlowWriter()
            let player = player(rig, writer)
            let start = player.start("count.wav", .init(), for: .daemon)
            try rig.put(counting(4800), as: "count.wav")
            #expect(player.state()["playing"]?.arrayValue?.first?.objectValue?["state"] == "opening")
            #expect(await outcome(player.start("count.wav", .init(), for: .daemon)).code == .busy)
            writer.finish()
            #expect(await outcome(start).code == nil)
            try await eventually("it ends") { player.state()["playing"] == [] }
        }

        @Test func `whoever stops it, or whose time is over, hears nothing of it later`() async throws {
            let rig = try await FilePlayerRig()
            let writer = SlowWriter()
            let player = player(rig, writer)
            try rig.put(counting(4800), as: "count.wav")
            let stopped = player.start("count.wav", .init(), for: .daemon)
            #expect(await outcome(player.change("count.wav", .stop) { _ in true }).code == nil)
            #expect(await outcome(stopped).code == .cancelled)
            let late = player.start("count.wav", .init(), for: .daemon)
            late.fail(CommandError(.timeout, "the call's time is over"))
            // It makes room for the next one.
            let next = player.start("count.wav", .init(), for: .daemon)
            next.fail(CommandError(.timeout, "the call's time is over"))
            writer.finish()
            #expect(player.state()["playing"] == [] && !rig.folder.exists("played.raw"))
        }
    }
}
