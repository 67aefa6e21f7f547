import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    /// The player with a real sound server, also when that is stopped or killed.
    @Suite(.enabled(if: PulseServer.isInstalled, "pulseaudio and pulseaudio-utils are not installed"))
    struct PulseTests {
        private let low = Signal.chirp(from: 200, to: 1500, seconds: 0.8)
        private let high = Signal.chirp(from: 9000, to: 4000, seconds: 0.8)

        private func start() async throws -> (server: PulseServer, rig: Rig) {
            let server = try await PulseServer.start()
            let rig = Rig(.named(try server.addPCM()), [low, high], answer: .seconds(1), patience: .seconds(1))
            return (server, rig)
        }

        @Test(.measured) func `two sounds at a time are both heard`() async throws {
            let (server, rig) = try await start()
            let recorder = try await server.record()
            let first = rig.player.play(sound: 0, for: .daemon)
            try await rig.heard(seconds: 0.1)
            #expect(await rig.play(1).code == nil)
            #expect(await outcome(first).code == nil)
            try await recorder.recordOn(for: 0.3)
            let recording = try await recorder.finish()
            let (a, b) = (Signal.find(low, in: recording), Signal.find(high, in: recording))
            // Of two equally loud sounds on top of each other for most of the time, each is some 0.7 of the sum.
            #expect(a.correlation > 0.6 && b.correlation > 0.6)
            #expect(b.start > a.start)
        }

        @Test(.measured) func `the end of a sound is heard before the answer comes`() async throws {
            let (server, rig) = try await start()
            let recorder = try await server.record()
            #expect(await rig.play(0).code == nil)
            try await recorder.recordOn(for: 0.3)
            let recording = try await recorder.finish()
            let heard = Signal.find(low, in: recording)
            #expect(heard.correlation > 0.98)
            let end = Array(recording.dropFirst(heard.start + low.count - 4800).prefix(4800))
            #expect(Signal.correlation(Array(low.suffix(4800)), end) > 0.9)
        }

        @Test func `a killed server fails its sound, and the player heals with it`() async throws {
            let (server, rig) = try await start()
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await rig.heard(seconds: 0.1)
            try await server.kill()
            #expect(await outcome(promise).code == .unavailable)
            #expect(await rig.play(0).code == .unavailable)
            try await server.restart()
            #expect(await rig.play(0).code == nil)
        }

        @Test func `a server stopped at opening costs callers the deadline, then nothing`() async throws {
            let (server, rig) = try await start()
            server.send(SIGSTOP)
            let first = rig.player.play(sound: 0, for: .daemon)
            let second = rig.player.play(sound: 1, for: .daemon)
            #expect(await outcome(first).code == .timeout)
            #expect(await outcome(second).code == .timeout)
            for _ in 0..<20 {
                let late = await rig.play(0)
                #expect(late.code == .unavailable)
                #expect(late.message.contains("has not come back"))
            }
            #expect(rig.log.complaints.count == 1)
            server.send(SIGCONT)
            try await eventually("it plays again") { await rig.play(0).code == nil }
        }

        @Test func `a stopped server that is killed lets the player heal too`() async throws {
            let (server, rig) = try await start()
            server.send(SIGSTOP)
            #expect(await rig.play(0).code == .timeout)
            try await server.kill()
            try await server.restart()
            try await eventually("it plays again") { await rig.play(0).code == nil }
        }

        @Test func `a server that is stopped in the middle of a sound fails it, and heals`() async throws {
            let (server, rig) = try await start()
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await rig.heard(seconds: 0.1)
            server.send(SIGSTOP)
            let result = await outcome(promise)
            #expect(result.code == .unavailable || result.code == .timeout)
            server.send(SIGCONT)
            try await eventually("it plays again") { await rig.play(0).code == nil }
        }

        @Test func `closing a player whose server is stopped ends its sound`() async throws {
            let (server, rig) = try await start()
            server.send(SIGSTOP)
            let promise = rig.player.play(sound: 0, for: .daemon)
            await rig.player.close()
            #expect(await outcome(promise).code == .cancelled)
            server.send(SIGCONT)
        }

        @Test func `a server without a sink fails the sound`() async throws {
            let (server, rig) = try await start()
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await rig.heard(seconds: 0.1)
            try await server.pactl("unload-module", "module-null-sink")
            let result = await outcome(promise)
            #expect(result.code == .unavailable)
            #expect(await rig.play(0).code == .unavailable)
        }

        private func probe(_ pcm: String) async -> ProbeFailure? {
            let probe = Probe("qc-try", "opening it", within: .seconds(1)) { () throws(CommandError) in
                do throws(StreamFailure) { try PlaybackStream.probe(.named(pcm)) } catch {
                    throw error.commandError(about: pcm)
                }
            }
            do throws(ProbeFailure) { try await probe.look() } catch { return error }
            return nil
        }

        @Test func `a PCM can be probed`() async throws {
            let server = try await PulseServer.start()
            let pcm = try server.addPCM()
            #expect(await probe(pcm) == nil)
            let missing = await probe(try server.addPCM(device: "nosuch"))
            #expect(missing?.error.code == .unavailable && missing?.hangs == false)
            server.send(SIGSTOP)
            let stopped = await probe(pcm)
            #expect(stopped?.error.code == .timeout && stopped?.hangs == true)
            server.send(SIGCONT)
        }
    }
}
