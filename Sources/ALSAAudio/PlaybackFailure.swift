internal import QuickConnect

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
