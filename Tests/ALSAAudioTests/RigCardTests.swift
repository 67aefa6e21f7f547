import Concurrency
import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    /// What is written to a card, seen at a virtual one.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct RigCardTests {
        let folder: TestFolder

        init() throws { folder = try TestFolder() }

        /// A player on a new card that keeps what it plays in `played.raw`.
        private func rig(_ options: String = "", _ sounds: [Float]...) async throws -> Rig {
            let card = try await RigPlugin.addCard("outfile \"\(folder("played.raw"))\" \(options)")
            return Rig(.named(card), sounds)
        }

        private func played(channels: Int = 2) throws -> PCM16 {
            PCM16(data: try folder.data("played.raw"), channels: channels)
        }

        @Test func `a 16-bit sound reaches the card unchanged, on both channels`() async throws {
            let sound = quantised(Signal.chirp(from: 300, to: 6000, seconds: 0.3))
            let rig = try await rig("", sound)
            #expect(await rig.play(0).code == nil)
            let expected = PCM16(sound).samples
            for channel in 0..<2 {
                let played = try played().integers(of: channel)
                #expect(Array(played.prefix(expected.count)) == expected)
                #expect(played.dropFirst(expected.count).allSatisfy { $0 == 0 })
            }
        }

        @Test(arguments: [("S32_LE", 2), ("FLOAT_LE", 1)])
        func `a card with another sample format gets the same sound`(format: String, channels: Int) async throws {
            let sound = quantised(Signal.chirp(from: 300, to: 6000, seconds: 0.1))
            let rig = try await rig("format \(format) channels \(channels)", sound)
            #expect(await rig.play(0).code == nil)
            let data = try folder.data("played.raw")
            let samples = data.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 4 * channels).map { at in
                    format == "FLOAT_LE"
                        ? bytes.loadUnaligned(fromByteOffset: at, as: Float.self)
                        : Float(bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)) / 2_147_483_648
                }
            }
            #expect(Array(samples.prefix(sound.count)) == sound)
        }

        @Test func `a card that only knows 44100 Hz plays at the right pitch and length`() async throws {
            let rig = try await rig("rate 44100", Signal.tone(1000, seconds: 0.5))
            #expect(await rig.play(0).code == nil)
            let played = try played().channel(0)
            let frequency = Signal.peakFrequency(Array(played.prefix(22050)), rate: 44_100)
            #expect(abs(frequency - 1000) < 3)
            let last = try #require(played.lastIndex { abs($0) > 0.01 })
            #expect(abs(last - 22050) < 200)
        }

        @Test func `a sound is over when it has been heard, not when it was written`() async throws {
            let rig = try await rig("", Signal.tone(440, seconds: 0.4))
            let time = await seconds { _ = await rig.play(0) }
            #expect(time >= 0.4)
        }

        @Test func `a second sound joins the first, and both are heard whole`() async throws {
            let low = quantised(Signal.chirp(from: 200, to: 2000, seconds: 0.4))
            let high = quantised(Signal.chirp(from: 9000, to: 3000, seconds: 0.4))
            let rig = try await rig("", low, high)
            let first = rig.player.play(sound: 0, for: .daemon)
            try await rig.heard(seconds: 0.05)
            #expect(await rig.play(1).code == nil)
            #expect(await outcome(first).code == nil)
            let sum = try played().channel(0)
            let start = Signal.find(high, in: sum).start
            var expected = [Float](repeating: 0, count: sum.count)
            for (frame, sample) in low.enumerated() { expected[frame] += sample }
            for (frame, sample) in high.enumerated() { expected[start + frame] += sample }
            #expect(sum == expected)
        }

        @Test func `sounds played one after the other are all heard, in order`() async throws {
            let chirps = (1...3).map { quantised(Signal.chirp(from: Double($0) * 1000, to: 300, seconds: 0.1)) }
            let rig = try await rig("", chirps[0], chirps[1], chirps[2])
            for number in 0..<3 { #expect(await rig.play(number).code == nil) }
            let heard = try chirps.map { Signal.find($0, in: try played().channel(0)) }
            #expect(heard.allSatisfy { $0.correlation > 0.9999 })
            #expect(heard.map(\.start) == heard.map(\.start).sorted())
        }

        @Test func `sounds that come while the card is being closed are heard whole`() async throws {
            let step = [Float](repeating: 1 / 1024, count: 2400)
            let rig = try await rig("", step)
            var promises: [Promise<Void>] = []
            for delay in 0..<20 {
                promises.append(rig.player.play(sound: 0, for: .daemon))
                // Sleeps for about as long as a sound, so that some meet the closing.
                try await Task.sleep(for: .milliseconds(45 + 2 * delay))
            }
            for promise in promises { #expect(await outcome(promise).code == nil) }
            // However they fell on top of each other, the sum is the same.
            let sum = try played().integers(of: 0).reduce(0) { $0 + Int($1) }
            #expect(sum == 20 * 2400 * 32)
        }

        @Test func `sounds that are too loud together saturate instead of wrapping around`() async throws {
            let loud = [Float](repeating: 0.75, count: 24000)
            let rig = try await rig("", loud, loud.map { -$0 })
            let promises = [0, 0].map { rig.player.play(sound: $0, for: .daemon) }
            for promise in promises { #expect(await outcome(promise).code == nil) }
            #expect(try played().samples.max() == 32767)
            let negative = [1, 1].map { rig.player.play(sound: $0, for: .daemon) }
            for promise in negative { #expect(await outcome(promise).code == nil) }
            #expect(try played().samples.min() == -32768)
        }

        @Test func `the state tells what plays, from where, and for whom`() async throws {
            let rig = try await rig("", Signal.tone(440, seconds: 0.5))
            let caller = Caller(.peer(uid: 7, pid: 8, groups: []))
            let promise = rig.player.play(sound: 0, for: caller)
            func playing() -> JSONObject? { rig.player.state()["playing"]?.arrayValue?.first?.objectValue }
            try await eventually("a position") { (playing()?["position"]?.numberValue ?? 0) > 0 }
            let entry = try #require(playing())
            #expect(entry["sound"] == 0 && entry["name"] == "0.wav" && entry["seconds"] == 0.5)
            #expect(entry["for"] == ["uid": 7, "pid": 8])
            #expect(await outcome(promise).code == nil)
            #expect(rig.player.state() == ["playing": []])
        }

        @Test func `a waiter that goes away does not end the sound`() async throws {
            let sound = quantised(Signal.chirp(from: 300, to: 3000, seconds: 0.3))
            let rig = try await rig("", sound)
            let promise = rig.player.play(sound: 0, for: .daemon)
            promise.fail(CommandError(.cancelled, "gone"))
            try await eventually("the sound was played") { rig.player.state() == ["playing": []] }
            #expect(Signal.find(sound, in: try played().channel(0)).correlation > 0.9999)
        }

        @Test func `stop ends what the caller may end, and nothing else`() async throws {
            let rig = try await rig("", Signal.tone(440, seconds: 0.8))
            let mine = Caller(.peer(uid: 1, pid: 1, groups: []))
            let other = Caller(.peer(uid: 2, pid: 2, groups: []))
            let promises = [mine, other].map { rig.player.play(sound: 0, for: $0) }
            try await eventually("both play") { rig.player.state()["playing"]?.arrayValue?.count == 2 }
            rig.player.stop { $0 == mine }
            #expect(await outcome(promises[0]).code == .cancelled)
            #expect(rig.player.state()["playing"]?.arrayValue?.count == 1)
            #expect(await outcome(promises[1]).code == nil)
        }

        @Test func `a stopped sound is silent at once, and the card is free`() async throws {
            let rig = try await rig("lock \"\(folder("lock"))\"", Signal.tone(440, seconds: 4))
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await eventually("it plays") { folder.exists("played.raw") }
            rig.player.stop { _ in true }
            #expect(await outcome(promise).code == .cancelled)
            try await eventually("the card is free") { CardLock.isFree(folder("lock")) }
        }

        @Test func `closing ends sounds as cancelled, and refuses later ones`() async throws {
            let rig = try await rig("lock \"\(folder("lock"))\"", Signal.tone(440, seconds: 4))
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await eventually("it plays") { folder.exists("played.raw") }
            await rig.player.close()
            #expect(await outcome(promise).code == .cancelled)
            #expect(CardLock.isFree(folder("lock")))
            #expect(await rig.play(0).code == .cancelled)
            await rig.player.close()
        }

        @Test func `a number without a sound is not found`() async throws {
            let rig = try await rig("", Signal.tone(440, seconds: 0.1))
            #expect(await rig.play(1).code == .notFound)
            #expect(await rig.play(-1).code == .notFound)
        }

        @Test func `more sounds at a time than the limit are refused`() async throws {
            let rig = try await rig("", Signal.tone(440, seconds: 0.1, level: 0.001))
            let promises = (0...VoiceList.limit).map { _ in rig.player.play(sound: 0, for: .daemon) }
            #expect(await outcome(promises[VoiceList.limit]).code == .overloaded)
            for promise in promises.dropLast() { #expect(await outcome(promise).code == nil) }
        }
    }
}
