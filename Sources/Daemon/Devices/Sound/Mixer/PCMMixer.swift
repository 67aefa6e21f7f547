internal import CALSA
internal import Concurrency
internal import Glibc
internal import QuickConnect

/// The mixer of a PCM, searched for at each use. Everything here may block.
struct PCMMixer {
    let pcm: String

    /// Applies the change, if any, and reads the resulting volume.
    func volume(applying change: VolumeChange?) throws(CommandError) -> Volume {
        try volume(of: try open(), applying: change)
    }

    func open() throws(CommandError) -> ControlMixer {
        let control = try findControl()
        do throws(ALSAError) { return try ControlMixer.open(control) } catch {
            if error.number == ENOENT, !GlobalConfiguration.defines(.control, control) { throw unsupported(control) }
            throw commandError(error, control)
        }
    }

    /// Opens a mixer so that no change after the first reading is missed.
    ///
    /// libasound reads the values first and then subscribes to events, so a change in between is in neither. A second
    /// reading after that shows it.
    func openToWatch() throws(CommandError) -> ControlMixer {
        for _ in 0..<5 {
            let mixer = try open()
            if try volume(of: mixer, applying: nil) == volume(applying: nil) { return mixer }
        }
        return try open()
    }

    /// The same for a mixer that is already open.
    func volume(of mixer: borrowing ControlMixer, applying change: VolumeChange?) throws(CommandError) -> Volume {
        let control = mixer.control
        let outcome: ControlMixer.Outcome
        do throws(ALSAError) { outcome = try mixer.use(change) } catch { throw commandError(error, control) }
        switch outcome {
        case .volume(let volume): return volume
        case .noVolume:
            throw CommandError(.unsupported, "the mixer \(control) of the PCM \(pcm) has no playback volume")
        case .noSwitch(let name):
            let message = "the mixer \(control) of the PCM \(pcm) cannot be muted: its element \(name) has no switch"
            throw CommandError(.unsupported, message)
        }
    }

    /// The plugin of PulseAudio may take back what would tell that the server has gone, if something else happens at that moment.
    private static let longestSleep = Duration.seconds(15)

    /// Waits in poll(2) for changes by other programs, until it is woken or must be read to see that it still answers.
    func sleep(
        _ mixer: borrowing ControlMixer,
        _ entries: inout [pollfd],
        _ waker: Waker
    ) throws(CommandError) {
        guard waker.sleep(watching: &entries, until: .now + Self.longestSleep) else { return }
        do throws(ALSAError) { try mixer.takeEvents(entries) } catch { throw commandError(error, mixer.control) }
    }

    /// What poll(2) must watch of a mixer.
    func pollEntries(_ mixer: borrowing ControlMixer) throws(CommandError) -> [pollfd] {
        do throws(ALSAError) { return try mixer.pollEntries() } catch { throw commandError(error, mixer.control) }
    }

    private func commandError(_ error: ALSAError, _ control: String) -> CommandError {
        error.commandError(about: "the mixer \(control) of the PCM \(pcm)")
    }

    private func findControl() throws(CommandError) -> String {
        if let control = ControlDevice.guess(pcm: pcm) { return control }
        if GlobalConfiguration.defines(.control, pcm) { return pcm }
        do throws(ALSAError) {
            if let control = try ControlDevice.ofCard(pcm: pcm) { return control }
        } catch {
            throw error.commandError(about: "finding the card of the PCM \(pcm)")
        }
        throw unsupported(pcm)
    }

    private func unsupported(_ control: String) -> CommandError {
        let message = "the PCM \(pcm) has no mixer: neither a control device \(control) nor a card was found"
        return CommandError(.unsupported, message)
    }
}

/// Finds the control device, and so the mixer, that belongs to a PCM.
enum ControlDevice {
    /// The control device that a PCM's name implies; nil if it implies none.
    /// - Parameter pcm: a name such as `default`, `pulse`, `plughw:1,0` or `sysdefault:CARD=Device`.
    static func guess(pcm: String) -> String? {
        let parts = pcm.split(separator: ":", maxSplits: 1)
        guard let kind = parts.first.map(String.init) else { return nil }
        if parts.count == 1 { return ["default", "pulse"].contains(kind) ? kind : nil }
        let ofCards: Set = ["hw", "plughw", "sysdefault", "default", "front", "hdmi", "iec958", "dmix"]
        return ofCards.contains(kind) ? card(parts[1]).map { "hw:\($0)" } : nil
    }

    /// The card in arguments such as `1,0` or `CARD=Device,DEV=0`.
    private static func card(_ arguments: Substring) -> Substring? {
        guard let first = arguments.split(separator: ",").first else { return nil }
        let named = arguments.split(separator: ",").first { $0.hasPrefix("CARD=") }
        return named?.dropFirst(5) ?? (first.contains("=") ? nil : first)
    }

    /// The control device of a PCM's card; the PCM is opened for a moment. Nil if there is no card.
    static func ofCard(pcm name: String) throws(ALSAError) -> String? {
        let pcm = try PCM.open(name, .playback)
        guard let card = try pcm.card(), card >= 0 else { return nil }
        return "hw:\(card)"
    }
}

extension PCM {
    /// The number of this PCM's card; negative or nil for a PCM without one.
    func card() throws(ALSAError) -> Int32? {
        var info: OpaquePointer?
        try check("snd_pcm_info_malloc", snd_pcm_info_malloc(&info))
        guard let info else { return nil }
        defer { snd_pcm_info_free(info) }
        try check("snd_pcm_info", snd_pcm_info(handle, info))
        return snd_pcm_info_get_card(info)
    }
}
