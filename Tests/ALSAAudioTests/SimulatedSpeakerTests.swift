import Concurrency
import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    @Suite struct SimulatedSpeakerTests {
        let folder: TestFolder
        let speaker: SimulatedSpeaker

        init() throws {
            folder = try TestFolder()
            speaker = SimulatedSpeaker(folder: folder("played"), keeping: 3)
        }

        private func written() throws -> PCM16 {
            let path = try #require(speaker.latestFile)
            return try PCM16(wav: Data(contentsOf: URL(fileURLWithPath: path)))
        }

        @Test func `the file holds exactly the sound, on both channels`() async throws {
            let sound = quantised(Signal.chirp(from: 300, to: 6000, seconds: 0.3))
            let rig = Rig(.simulated(speaker), [sound])
            #expect(await rig.play(0).code == nil)
            let file = try written()
            #expect(file.rate == 48_000 && file.channels == 2)
            let expected = PCM16(sound).samples
            for channel in 0..<2 {
                let played = file.integers(of: channel)
                #expect(Array(played.prefix(expected.count)) == expected)
                #expect(played.dropFirst(expected.count).allSatisfy { $0 == 0 })
                #expect(played.count - expected.count < 960)
            }
        }

        @Test func `playing takes as long as through a loudspeaker`() async throws {
            let rig = Rig(.simulated(speaker), [Signal.tone(440, seconds: 0.5)])
            let time = await seconds { _ = await rig.play(0) }
            #expect(time >= 0.49)
        }

        @Test func `each opening begins a new file, and only the newest are kept`() async throws {
            let rig = Rig(.simulated(speaker), [Signal.tone(440, seconds: 0.01)])
            for _ in 0..<5 { #expect(await rig.play(0).code == nil) }
            let names = try FileManager.default.contentsOfDirectory(atPath: speaker.folder).sorted()
            #expect(names == [3, 4, 5].map { "playback-00000\($0).wav" })
            #expect(speaker.latestFile == "\(speaker.folder)/playback-000005.wav")
        }

        @Test func `two sounds at a time are in one file, added up`() async throws {
            let low = quantised(Signal.chirp(from: 200, to: 2000, seconds: 0.4))
            let high = quantised(Signal.chirp(from: 9000, to: 3000, seconds: 0.4))
            let rig = Rig(.simulated(speaker), [low, high])
            let first = rig.player.play(sound: 0, for: .daemon)
            try await eventually("the first plays") { speaker.latestFile != nil }
            let second = rig.player.play(sound: 1, for: .daemon)
            #expect(await outcome(first).code == nil)
            #expect(await outcome(second).code == nil)
            let sum = try written().channel(0)
            let start = Signal.find(high, in: sum).start
            var expected = [Float](repeating: 0, count: sum.count)
            for (frame, sample) in low.enumerated() { expected[frame] += sample }
            for (frame, sample) in high.enumerated() { expected[start + frame] += sample }
            #expect(sum == expected)
        }

        @Test func `the volume scales what is written`() async throws {
            let rig = Rig(.simulated(speaker), [[Float](repeating: 0.5, count: 480)])
            let volume = ALSAVolumeControl(output: .simulated(speaker), logger: rig.log.logger)
            #expect(try await volume.volume(applying: nil).value() == Volume(percent: 100, isMuted: false))
            #expect(try await volume.volume(applying: .percent(50)).value() == Volume(percent: 50, isMuted: false))
            #expect(await rig.play(0).code == nil)
            #expect(try written().samples.max() == 8192)
            #expect(try await volume.volume(applying: .muted(true)).value() == Volume(percent: 50, isMuted: true))
            #expect(await rig.play(0).code == nil)
            #expect(try written().samples.max() == 0)
        }

        @Test func `closing in the middle leaves a whole file`() async throws {
            let rig = Rig(.simulated(speaker), [Signal.tone(440, seconds: 4)])
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await rig.heard(seconds: 0.1)
            await rig.player.close()
            #expect(await outcome(promise).code == .cancelled)
            #expect(try written().frames > 4800)
        }

        @Test func `a folder with odd characters is fine, one that cannot be made is unavailable`() async throws {
            let odd = SimulatedSpeaker(folder: folder("a \"b\" %r {c} \\ é/deep"))
            #expect(await Rig(.simulated(odd), [[0.5]]).play(0).code == nil)
            #expect(FileManager.default.fileExists(atPath: try #require(odd.latestFile)))
            try folder.write("a file", to: "file")
            let rig = Rig(.simulated(SimulatedSpeaker(folder: folder("file/below"))), [[0.5]])
            let result = await rig.play(0)
            #expect(result.code == .unavailable)
            #expect(result.message.contains("file/below"))
        }

        @Test func `a PCM of one's own without a clock is paced as well`() async throws {
            let file = folder("own.wav")
            let body = "type file  slave.pcm null  file \"\(file)\"  format wav"
            let rig = Rig(.named(try ALSAConfigurationFile.shared.get().addPCM(body)), [Signal.tone(440, seconds: 0.5)])
            let time = await seconds { _ = await rig.play(0) }
            #expect(time >= 0.49)
            #expect(try PCM16(wav: folder.data("own.wav")).frames >= 24_000)
        }
    }
}

/// Everything that plays in real time runs one after the other: side by side they would only disturb each other.
@Suite(.serialized) struct SoundTests {}
