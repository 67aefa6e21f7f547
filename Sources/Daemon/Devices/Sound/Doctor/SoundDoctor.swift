package import QuickConnect

/// Checks the loudspeaker, the microphone, the mixer and what they depend on.
///
/// A ``Probe`` checks everything that may hang, once for each report.
package struct SoundDoctor: Examined {
    let player: ALSASoundPlayer
    let recorder: ALSARecorder
    private let account: OwnAccount
    private let soundSystem: Probe<SoundSystem>
    private let speaker: Probe<Void>
    private let microphone: Probe<Void>
    private let mixer: Probe<Volume>

    /// How long the tone may take.
    static let limit = Duration.seconds(4)

    /// - Parameters:
    ///   - environment: where a sound server's sockets are looked for (`PULSE_SERVER`, `XDG_RUNTIME_DIR`).
    ///   - account: the account of this process.
    package init(
        player: ALSASoundPlayer,
        recorder: ALSARecorder,
        environment: [String: String],
        account: OwnAccount
    ) {
        self.player = player
        self.recorder = recorder
        self.account = account
        let (output, input) = (player.engine.output, recorder.engine.input)
        let paths = SoundServer.paths(environment)
        soundSystem = Probe("qc-doctor", "looking for sound cards and servers") { () throws(CommandError) in
            SoundSystem(cards: SoundCards(), server: SoundServer(at: paths))
        }
        speaker = Self.probe("qc-spk-dr", "\(output)") { () throws(StreamFailure) in try PlaybackStream.probe(output) }
        microphone = Self.probe("qc-mic-dr", "\(input)") { () throws(StreamFailure) in try CaptureStream.probe(input) }
        mixer = Probe("qc-mix-dr", "opening the mixer of \(output)") { () throws(CommandError) in
            try output.volume(applying: nil)
        }
    }

    private static func probe(
        _ name: String,
        _ pcm: String,
        _ open: @escaping @Sendable () throws(StreamFailure) -> Void
    ) -> Probe<Void> {
        let step = "opening \(pcm)"
        return Probe(name, step) { () throws(CommandError) in
            do throws(StreamFailure) { try open() } catch { throw error.commandError(about: step) }
        }
    }

    package func examine(thoroughly isThorough: Bool) async -> [Finding] {
        async let speaker = trySpeaker()
        async let microphone = tryMicrophone()
        async let mixer = examineMixer()
        let attempts = await [speaker, microphone]
        // Done last, because each check takes a place in a stopped server's queue, which the PCM would then lack.
        let soundSystem = await lookAround()
        var findings = findings(soundSystem, attempts) + [await mixer, sounds]
        let haveBoth = attempts.allSatisfy { $0.failure == nil }
        if isThorough, haveBoth { findings.append(await playAndListen()) }
        return findings
    }

    private func findings(_ soundSystem: Result<SoundSystem, ProbeFailure>, _ attempts: [Attempt]) -> [Finding] {
        switch soundSystem {
        case .success(let soundSystem):
            let isHanging = attempts.contains { $0.failure?.hangs == true }
            return [soundSystem.cards.finding(account), soundSystem.server.finding(isHanging: isHanging)]
                + attempts.map { $0.finding(soundSystem, account) }
        case .failure(let failure):
            return [Finding("sound cards", failure.error, inspect: "aplay -l")]
                + attempts.map { $0.finding(nil, account) }
        }
    }

    private func lookAround() async -> Result<SoundSystem, ProbeFailure> {
        do throws(ProbeFailure) { return .success(try await soundSystem.look()) } catch { return .failure(error) }
    }

    private func trySpeaker() async -> Attempt {
        let output = player.engine.output
        var attempt = Attempt("speaker", "\(output)", "to play", isSimulated: output.isSimulated)
        if player.engine.isPlaying { return attempt.inUse("is playing now") }
        do throws(ProbeFailure) { try await speaker.look() } catch { attempt.failure = error }
        return attempt
    }

    private func tryMicrophone() async -> Attempt {
        let input = recorder.engine.input
        var attempt = Attempt("microphone", "\(input)", "to record", isSimulated: input.tone != nil)
        if recorder.engine.isCapturing { return attempt.inUse("is recording now") }
        do throws(ProbeFailure) { try await microphone.look() } catch { attempt.failure = error }
        return attempt
    }

    private func examineMixer() async -> Finding {
        do throws(ProbeFailure) {
            let volume = try await mixer.look()
            if volume.isMuted {
                return Finding("mixer", .error, "the sound is muted", fix: "quickconnect call volume unmute")
            }
            if volume.percent == 0 {
                return Finding("mixer", .error, "the volume is 0 %", fix: "quickconnect call volume 70")
            }
            return Finding("mixer", .ok, "the volume is \(volume.percent) %")
        } catch {
            // Many PCMs have no mixer, and can play all the same.
            return Finding("mixer", .warning, error.error.message)
        }
    }

    private var sounds: Finding {
        let count = player.sounds.count
        guard player.sounds.first?.number == 0 else {
            let says = "system sound 0, laser.wav, is missing; there are \(count) others"
            return Finding("system sounds", .error, says, fix: "sudo apt-get install --reinstall quickconnect")
        }
        let says = "\(count) system sounds are loaded, numbers 0 to \(player.sounds.last?.number ?? 0)"
        return Finding("system sounds", .ok, says)
    }
}

/// The sound cards and the sound server that a PCM may use.
struct SoundSystem {
    let cards: SoundCards
    let server: SoundServer
}

/// An attempt to open a PCM, and its result.
struct Attempt {
    private let subject: String
    private let pcm: String
    private let purpose: String
    private let isSimulated: Bool
    /// Set if the PCM is already in use, so that it was not opened.
    private var use: String?
    /// Why it could not be opened.
    var failure: ProbeFailure?

    /// - Parameters:
    ///   - subject: the subject of the finding.
    ///   - pcm: the PCM, such as `the PCM default`.
    ///   - purpose: the purpose, such as `to play`.
    init(_ subject: String, _ pcm: String, _ purpose: String, isSimulated: Bool) {
        self.subject = subject
        self.pcm = pcm
        self.purpose = purpose
        self.isSimulated = isSimulated
    }

    /// Records that this process already has the PCM open, so that it need not be tried.
    func inUse(_ use: String) -> Attempt {
        var attempt = self
        attempt.use = use
        return attempt
    }

    /// - Parameter system: nil if it could not be examined.
    func finding(_ system: SoundSystem?, _ account: OwnAccount) -> Finding {
        guard let error = failure?.error else {
            return Finding(subject, .ok, "\(pcm) \(use ?? "can be opened")\(isSimulated ? " (simulated)" : "")")
        }
        var tried = ["snd_pcm_open \(pcm) \(purpose): \(error.code.rawValue)"]
        if let system { tried += [system.cards.description, system.server.description] }
        tried.append("running as \(account)")
        guard let system, !system.cards.isEmpty || failure?.hangs == true else {
            return Finding(subject, error, tried: tried, inspect: "aplay -l")
        }
        let fix = system.cards.areUsable ? system.server.restart : account.joiningAudio
        return Finding(subject, error, tried: tried, fix: fix)
    }
}

/// The account of this process, for its doctor. Looked up once by the code that makes the doctor, since that may block.
package struct OwnAccount: Sendable {
    package var user: String
    package var groups: [String]

    package init(user: String, groups: [String]) {
        self.user = user
        self.groups = groups
    }
}

extension OwnAccount: CustomStringConvertible {
    package var description: String { "the user \(user), in the groups \(groups.joined(separator: ", "))" }
}
