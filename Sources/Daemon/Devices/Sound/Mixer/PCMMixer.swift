internal import Glibc
internal import Linux
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

    /// Waits in poll(2) for changes by other programs, or until it is woken.
    /// - Returns: whether there was any change.
    func sleep(
        _ mixer: borrowing ControlMixer,
        _ entries: inout [pollfd],
        _ waker: Waker
    ) throws(CommandError) -> Bool {
        guard waker.sleep(watching: &entries, until: nil) else { return false }
        do throws(ALSAError) { try mixer.takeEvents(entries) } catch { throw commandError(error, mixer.control) }
        return true
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
