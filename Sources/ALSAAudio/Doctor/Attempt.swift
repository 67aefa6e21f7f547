internal import QuickConnect

/// What a PCM may lead to.
struct Surroundings {
    let cards: SoundCards
    let server: SoundServer
}

/// An opening of a PCM, and what came of it.
struct Attempt {
    private let subject: String
    private let pcm: String
    private let purpose: String
    private let isSimulated: Bool
    /// What was seen without opening it.
    private var use: String?
    /// Why it could not be opened.
    var failure: ProbeFailure?

    /// - Parameters:
    ///   - subject: of the finding.
    ///   - pcm: such as `the PCM default`.
    ///   - purpose: such as `to play`.
    init(_ subject: String, _ pcm: String, _ purpose: String, isSimulated: Bool) {
        self.subject = subject
        self.pcm = pcm
        self.purpose = purpose
        self.isSimulated = isSimulated
    }

    /// The PCM is open in this process already, so it need not be tried.
    func inUse(_ use: String) -> Attempt {
        var attempt = self
        attempt.use = use
        return attempt
    }

    /// - Parameter surroundings: nil where they could not be looked at.
    func finding(_ surroundings: Surroundings?, _ account: OwnAccount) -> Finding {
        guard let error = failure?.error else {
            return Finding(subject, .well, "\(pcm) \(use ?? "can be opened")\(isSimulated ? " (simulated)" : "")")
        }
        var tried = ["snd_pcm_open \(pcm) \(purpose): \(error.code.rawValue)"]
        if let surroundings { tried += [surroundings.cards.description, surroundings.server.description] }
        return Finding(subject, error, tried: tried + ["running as \(account)"], mend: mend(surroundings, account))
    }

    private func mend(_ surroundings: Surroundings?, _ account: OwnAccount) -> String {
        guard let surroundings, !surroundings.cards.isEmpty || failure?.hangs == true else { return "aplay -l" }
        return surroundings.cards.areUsable ? surroundings.server.restart : account.joiningAudio
    }
}
