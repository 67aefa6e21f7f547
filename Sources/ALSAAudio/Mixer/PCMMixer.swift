internal import Glibc
internal import QuickConnect

/// The mixer of a PCM, looked for anew with each use. Everything here may block.
struct PCMMixer {
    let pcm: String

    /// Applies a change, if any, and reads the volume that is then set.
    func volume(applying change: VolumeChange?) throws(CommandError) -> Volume {
        let control = try findControl()
        let outcome: ControlMixer.Outcome
        do throws(ALSAError) {
            outcome = try ControlMixer.open(control).use(change)
        } catch {
            if error.number == ENOENT, !ControlDevice.isDefined(control) { throw unsupported(control) }
            throw error.commandError(about: "the mixer \(control) of the PCM \(pcm)")
        }
        switch outcome {
        case .volume(let volume): return volume
        case .noVolume:
            throw CommandError(.unsupported, "the mixer \(control) of the PCM \(pcm) has no playback volume")
        case .noSwitch(let name):
            let message = "the mixer \(control) of the PCM \(pcm) cannot be muted: its element \(name) has no switch"
            throw CommandError(.unsupported, message)
        }
    }

    private func findControl() throws(CommandError) -> String {
        if let control = ControlDevice.guess(pcm: pcm) { return control }
        if ControlDevice.isDefined(pcm) { return pcm }
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
