import Foundation
import MediaFolder
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    /// What becomes of recordings whose writer ended without a word.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct RecoveryTests {
        /// What lies in the folder when a recording is killed after some time, as if it had been.
        private func leftover(_ name: String, after seconds: Double) async throws -> Data {
            let rig = try await RecorderRig()
            #expect(await rig.start(name).code == nil)
            try await rig.awaitRecorded(seconds)
            let data = try rig.folder.data("media/.\(name).recording")
            #expect(await rig.stop(name).code == nil)
            return data
        }

        private func recover(_ data: Data, as name: String, beside files: [String] = []) async throws -> RecorderRig {
            let rig = try await RecorderRig()
            try FileManager.default.createDirectory(atPath: rig.folder("media"), withIntermediateDirectories: true)
            for file in files { try rig.folder.write("older", to: "media/\(file)") }
            try rig.folder.write(data, to: "media/.\(name).recording")
            await rig.recorder.recover()
            return rig
        }

        @Test(arguments: ["take.caf", "take.wav", "take.flac", "take.ogg"])
        func `a recording that was cut off is recovered under its name`(name: String) async throws {
            let rig = try await recover(try await leftover(name, after: 1.2), as: name)
            #expect(rig.files == [name])
            let file = try SoundFile(path: rig.folder("media/\(name)"))
            let duration = file.duration
            #expect(try #require(duration) > 0.7)
            #expect(rig.log.lines.contains { $0.contains("'\(name)' was cut off, and is recovered") })
            guard !name.hasSuffix("ogg") else { return }
            #expect(gaps(try file.read(atMost: 100_000).samples.map { Int16($0 * 32_768) }) == 0)
        }

        @Test func `a WAV file that was cut off has right lengths afterwards`() async throws {
            let rig = try await recover(try await leftover("take.wav", after: 0.6), as: "take.wav")
            let frames = try rig.integers("take.wav")
            #expect(gaps(frames) == 0 && frames.count > 20_000)
        }

        @Test(arguments: ["take.caf", "take.wav", "take.flac", "take.ogg"])
        func `a file torn anywhere is recovered up to there, or said to be nothing`(name: String) async throws {
            let data = try await leftover(name, after: 0.8)
            var generator = SeededGenerator(seed: 7)
            for _ in 0..<25 {
                let length = generator.below(data.count + 1)
                let rig = try await recover(data.prefix(length), as: name)
                if rig.files == [name] {
                    let file = try SoundFile(path: rig.folder("media/\(name)"))
                    #expect(try file.read(atMost: 100_000).frames > 0)
                } else {
                    #expect(rig.log.lines.contains { $0.contains("was cut off") }, "\(length): \(rig.files)")
                    // CAF's header is a page, and an Opus page is a fifth of a second: before that there is no sound.
                    #expect(length < 20_000, "\(length) of \(data.count) bytes gave nothing: \(rig.log.lines)")
                }
            }
        }

        @Test func `rubbish is said, and another daemon's recording is left alone`() async throws {
            let rig = try await recover(Data(repeating: 7, count: 50_000), as: "take.wav")
            #expect(rig.files == ["take.wav.damaged"])
            #expect(rig.log.complaints.first?.contains("is kept as 'take.wav.damaged'") == true)

            // Older copies stay.
            let rubbish = Data(repeating: 7, count: 50_000)
            let again = try await recover(rubbish, as: "take.wav", beside: ["take.wav.damaged"])
            #expect(again.files == ["take.wav.damaged", "take.wav.damaged.2"])
            #expect(try again.folder.data("media/take.wav.damaged") == Data("older".utf8))
            #expect(again.log.complaints.first?.contains("is kept as 'take.wav.damaged.2'") == true)

            // A header whose rate nothing could write: 1,040,192 frames a second.
            var data = try await leftover("take.flac", after: 0.3)
            data.replaceSubrange(18..<21, with: [0xFD, 0xF4, 0x00])
            let odd = try await recover(data + Data(count: 10_000), as: "take.flac")
            #expect(odd.files == ["take.flac.damaged"])
            #expect(try await recover(data.prefix(45), as: "take.flac").files == [])

            let other = try await RecorderRig()
            #expect(await other.start("take.wav").code == nil)
            try await other.awaitRecorded(0.1)
            let media = MediaFolder(path: other.folder("media"))
            RecordingRecovery(
                folder: media,
                owners: MediaOwners(media, index: nil, logger: other.log.logger),
                logger: other.log.logger
            ).run()
            #expect(other.files == [".take.wav.recording"])
            #expect(await other.stop("take.wav").code == nil)
            #expect(other.files == ["take.wav"])
        }
    }
}
