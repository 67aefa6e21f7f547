internal import QuickConnect

/// Where the sound goes.
public enum ALSAOutput: Sendable {
    /// A PCM of ALSA's configuration, such as `default` or `plughw:1,0`.
    case named(String)
    /// Files in place of a loudspeaker.
    case simulated(SimulatedSpeaker)

    func open() throws(PlaybackFailure) -> PCM {
        switch self {
        case .named(let name):
            do { return try PCM.open(name, .playback) } catch { throw .alsa(error) }
        case .simulated(let speaker):
            return try speaker.open()
        }
    }

    /// What every sample is multiplied with. Where there is a mixer the mixer does that, and this is 1.
    var gain: Float {
        switch self {
        case .named: 1
        case .simulated(let speaker): speaker.gain
        }
    }
}

extension ALSAOutput: CustomStringConvertible {
    public var description: String {
        switch self {
        case .named(let name): "the PCM \(name)"
        case .simulated: "the simulated PCM"
        }
    }
}

/// Why playing had to end.
enum PlaybackFailure: Error {
    case alsa(ALSAError)
    /// The PCM was open and nothing was heard for that long.
    case frozen(Duration)
    /// Recovered again and again, each time in vain.
    case unrecoverable(ALSAError)
    /// The folder of a simulated output cannot be used.
    case folder(String, reason: String)
    /// The call that blocked came back after the sounds had been given up.
    case givenUp

    func commandError(about output: ALSAOutput) -> CommandError {
        switch self {
        case .alsa(let error):
            return error.commandError(about: "\(output)")
        case .frozen(let patience):
            let message = "\(output) played nothing for \(patience): its clock stands still or its sound server hangs"
            return CommandError(.unavailable, message)
        case .unrecoverable(let error):
            let message = "\(output) failed: \(error), and again each time it was recovered; is its sound server gone?"
            return CommandError(.unavailable, message)
        case .folder(let folder, let reason):
            return CommandError(.unavailable, "\(output) cannot write to the folder \(folder): \(reason)")
        case .givenUp:
            return CommandError(.timeout, "\(output) did not answer in time")
        }
    }
}
