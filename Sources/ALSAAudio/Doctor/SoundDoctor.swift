internal import Concurrency
internal import Glibc
public import QuickConnect

/// Looks at the loudspeaker, the microphone, the mixer and what is behind them.
public struct SoundDoctor: Examined {
    private let player: ALSASoundPlayer
    private let recorder: ALSARecorder
    private let volume: ALSAVolumeControl
    private let server: SoundServer

    /// How long each of them may take to answer.
    private static let limit = Duration.seconds(4)

    /// - Parameter environment: where a sound server's sockets are looked for (`PULSE_SERVER`, `XDG_RUNTIME_DIR`).
    public init(
        player: ALSASoundPlayer,
        recorder: ALSARecorder,
        volume: ALSAVolumeControl,
        environment: [String: String]
    ) {
        self.player = player
        self.recorder = recorder
        self.volume = volume
        server = SoundServer(environment)
    }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] {
        async let speaker = examineSpeaker()
        async let microphone = examineMicrophone()
        var findings = [SoundCards.finding, server.finding, await speaker, await microphone, await examineMixer()]
        findings.append(sounds)
        let hasBoth = findings.allSatisfy { !["speaker", "microphone"].contains($0.subject) || $0.state != .fault }
        if isThorough, hasBoth { findings.append(await playAndListen()) }
        return findings
    }

    private func examineSpeaker() async -> Finding {
        let output = player.engine.output
        if player.engine.isPlaying { return Finding("speaker", .well, "\(output) plays at this moment") }
        do throws(CommandError) {
            try await probe("opening \(output)") { () throws(StreamFailure) in try PlaybackStream.probe(output) }
            return Finding("speaker", .well, "\(output) can be opened\(Self.remark(output.isSimulated))")
        } catch {
            return finding("speaker", error, "snd_pcm_open \(output) to play")
        }
    }

    private func examineMicrophone() async -> Finding {
        let input = recorder.engine.input
        if recorder.engine.isCapturing { return Finding("microphone", .well, "\(input) records at this moment") }
        do throws(CommandError) {
            try await probe("opening \(input)") { () throws(StreamFailure) in try CaptureStream.probe(input) }
            return Finding("microphone", .well, "\(input) can be opened\(Self.remark(input.tone != nil))")
        } catch {
            return finding("microphone", error, "snd_pcm_open \(input) to record")
        }
    }

    /// A PCM that our own programs hold is no fault; what another one holds is.
    private func finding(_ subject: String, _ error: CommandError, _ what: String) -> Finding {
        let tried = [
            "\(what): \(error.code.rawValue)", SoundCards.description, server.description, Permissions.description,
        ]
        return Finding(subject, error, tried: tried, mend: SoundCards.isEmpty ? "aplay -l" : server.restart)
    }

    private static func remark(_ isSimulated: Bool) -> String { isSimulated ? ", and is simulated" : "" }

    private func examineMixer() async -> Finding {
        do throws(CommandError) {
            let volume = try await volume.volume(applying: nil).value(before: .now + Self.limit)
            if volume.isMuted {
                return Finding("mixer", .fault, "the sound is muted", mend: "quickconnect call volume unmute")
            }
            if volume.percent == 0 {
                return Finding("mixer", .fault, "the volume is 0 %", mend: "quickconnect call volume 70")
            }
            return Finding("mixer", .well, "the volume is \(volume.percent) %")
        } catch {
            // Many PCMs have none, and play all the same.
            return Finding("mixer", .note, error.message)
        }
    }

    private var sounds: Finding {
        let count = player.sounds.count
        guard player.sounds.first?.number == 0 else {
            let says = "there are \(count) system sounds, and laser.wav, number 0, is not among them"
            return Finding("system sounds", .fault, says, mend: "sudo apt-get install --reinstall quickconnect")
        }
        return Finding("system sounds", .well, "there are \(count), from 0 to \(player.sounds.last?.number ?? 0)")
    }
}

extension SoundDoctor {
    /// Runs what may block on a thread of its own.
    private func probe(
        _ step: String,
        _ work: @escaping @Sendable () throws(StreamFailure) -> Void
    ) async throws(CommandError) {
        try await ALSASoundPlayer.probe(step, within: Self.limit, work)
    }

    /// Plays a tone of a second, and listens whether it is in what the microphone hears.
    private func playAndListen() async -> Finding {
        if player.engine.output.isSimulated {
            return Finding("tone", .note, "sound is simulated: there is nothing to hear")
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
            return Finding("tone", error, tried: ["a tone of 1 kHz for 1 s"])
        }
        recording.end(.stopped)
        return judge(recording, tone)
    }

    private func judge(_ recording: CaptureTap, _ tone: Tone) -> Finding {
        if let failure = recording.failure {
            return Finding("tone", failure, tried: ["recording while the tone played"])
        }
        let (heard, rate) = recording.all()
        let peak = heard.lazy.map(abs).max() ?? 0
        let level = tone.level(in: heard, rate: rate)
        let tried = [
            "a tone of 1 kHz for 1 s, recorded meanwhile: peak \(peak), of which the tone \(level.inMilliseconds)"
        ]
        if peak == 0 {
            let says = "the microphone gives digital silence: it is muted, or nothing is connected"
            return Finding("tone", .fault, says, tried: tried, mend: "alsamixer --view=capture")
        }
        let others = [700, 850, 1200, 1450].map { Tone(hertz: $0, level: 1).level(in: heard, rate: rate) }
        if level > 4 * (others.max() ?? 0), level > 0.0005 {
            return Finding("tone", .well, "the microphone heard the tone that the speaker played", tried: tried)
        }
        let says = "the microphone hears something, but not the tone that the speaker played: is the speaker turned up?"
        return Finding("tone", .fault, says, tried: tried, mend: "alsamixer")
    }
}
