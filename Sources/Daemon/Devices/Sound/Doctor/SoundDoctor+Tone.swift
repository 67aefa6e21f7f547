internal import Concurrency
internal import QuickConnect

extension SoundDoctor {
    /// Plays a tone for a second, and checks whether the microphone captures it.
    func playAndListen() async -> Finding {
        if player.engine.output.isSimulated {
            return Finding("tone", .warning, "sound is simulated, so there is nothing to hear")
        }
        let tone = Tone(hertz: 1000, level: 0.5)
        let recording = CaptureTap(rate: 48_000, channels: 1)
        recorder.engine.add(recording)
        let buffer = SoundBuffer(samples: tone.samples(48_000, rate: 48_000), channels: 1, rate: 48_000)
        let request = VoiceRequest(source: BufferSource(buffer), description: nil, seconds: 1, caller: .daemon)
        do throws(CommandError) {
            try await player.engine.play(request).value(before: .now + Self.limit)
        } catch {
            recording.end(.stopped)
            return Finding("tone", error, tried: ["playing a tone of 1 kHz for 1 s"])
        }
        recording.end(.stopped)
        return judge(recording, tone)
    }

    private func judge(_ recording: CaptureTap, _ tone: Tone) -> Finding {
        if let failure = recording.failure {
            return Finding("tone", failure, tried: ["recording while the tone was playing"])
        }
        let (heard, rate) = recording.all()
        let peak = heard.lazy.map(abs).max() ?? 0
        let level = tone.level(in: heard, rate: rate)
        let tried = ["a tone of 1 kHz for 1 s: recorded peak \(peak), level of the tone in it \(level.inMilliseconds)"]
        if peak == 0 {
            let says = "the microphone records digital silence: it is muted, or nothing is connected"
            return Finding("tone", .error, says, tried: tried, fix: "alsamixer --view=capture")
        }
        let others = [700, 850, 1200, 1450].map { Tone(hertz: $0, level: 1).level(in: heard, rate: rate) }
        if level > 4 * (others.max() ?? 0), level > 0.0005 {
            return Finding("tone", .ok, "the microphone heard the tone that the speaker played", tried: tried)
        }
        let says = "the microphone hears something, but not the tone that the speaker played; is the speaker turned up?"
        return Finding("tone", .error, says, tried: tried, fix: "alsamixer")
    }
}
