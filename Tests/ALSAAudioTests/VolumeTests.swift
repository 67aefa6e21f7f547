import Concurrency
import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    @Suite struct VolumeTests {
        let log = LogRecord()

        private func control(_ pcm: String) -> ALSAVolumeControl {
            ALSAVolumeControl(output: .named(pcm), answer: .seconds(1), logger: log.logger)
        }

        @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio and pulseaudio-utils are not installed"))
        func `the mixer of a sound server is set, muted and read`() async throws {
            let server = try await PulseServer.start()
            let volume = control(try server.addPCM())
            let full = try await volume.volume(applying: nil).value()
            #expect(full == Volume(percent: 100, isMuted: false))
            let half = try await volume.volume(applying: .percent(50)).value()
            #expect(half == Volume(percent: 50, isMuted: false))
            let muted = try await volume.volume(applying: .muted(true)).value()
            #expect(muted == Volume(percent: 50, isMuted: true))
            let sinks = try await server.pactl("list", "sinks")
            #expect(sinks.contains("Mute: yes") && sinks.contains("50%"))
            #expect(try await volume.volume(applying: .muted(false)).value().isMuted == false)
            await volume.close()
        }

        @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio and pulseaudio-utils are not installed"))
        func `changes are applied in the order of the calls`() async throws {
            let server = try await PulseServer.start()
            let volume = control(try server.addPCM())
            let promises = [10, 90, 30, 70].map { volume.volume(applying: .percent($0)) }
            var percents: [Int] = []
            for promise in promises { percents.append(try await promise.value().percent) }
            #expect(percents == [10, 90, 30, 70])
            #expect(try await volume.volume(applying: nil).value().percent == 70)
        }

        @Test(.enabled(if: PulseServer.isInstalled, "pulseaudio and pulseaudio-utils are not installed"))
        func `a stopped server costs the deadline, then nothing, and heals`() async throws {
            let server = try await PulseServer.start()
            let volume = control(try server.addPCM())
            server.send(SIGSTOP)
            #expect(await outcome(volume.volume(applying: .percent(20))).code == .timeout)
            #expect(await outcome(volume.volume(applying: nil)).code == .unavailable)
            server.send(SIGCONT)
            try await eventually("it answers") { await outcome(volume.volume(applying: nil)).code == nil }
            try await server.kill()
            #expect(await outcome(volume.volume(applying: nil)).code == .unavailable)
        }

        @Test(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
        func `a PCM without a mixer is unsupported, and the answer says what was looked for`() async throws {
            let card = try await RigPlugin.addCard()
            let result = await outcome(control(card).volume(applying: .percent(50)))
            #expect(result.code == .unsupported)
            #expect(result.message.contains(card) && result.message.contains("control device"))
        }

        @Test func `a default without any mixer is unsupported, a missing card unavailable`() async throws {
            let hw = "ctl.hw { @args [ CARD ] @args.CARD { type string } type hw card $CARD }"
            try ALSAConfigurationFile.shared.get().add(hw)
            #expect(await outcome(control("default").volume(applying: nil)).code == .unsupported)
            #expect(await outcome(control("plughw:7,0").volume(applying: nil)).code == .unavailable)
        }
    }
}
