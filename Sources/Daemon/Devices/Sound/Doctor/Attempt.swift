internal import QuickConnect

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
