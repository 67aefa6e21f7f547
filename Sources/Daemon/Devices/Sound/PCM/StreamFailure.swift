internal import QuickConnect

/// Why playing or recording had to end.
enum StreamFailure: Error {
    case alsa(ALSAError)
    /// The PCM was open, but no sound passed through it for that long.
    case frozen(Duration)
    /// It was recovered again and again without success.
    case unrecoverable(ALSAError)
    /// The folder of a simulated output cannot be used.
    case folder(String, reason: String)
    /// A blocking call returned after it had been given up.
    case givenUp

    /// - Parameter subject: the PCM, such as `the PCM default`.
    func commandError(about subject: String) -> CommandError {
        switch self {
        case .alsa(let error):
            return error.commandError(about: subject)
        case .frozen(let patience):
            let message = "\(subject) made no progress for \(patience): its clock has stopped or its sound server hangs"
            return CommandError(.unavailable, message)
        case .unrecoverable(let error):
            let message = "\(subject) failed: \(error), and again each time it was recovered; is its sound server gone?"
            return CommandError(.unavailable, message)
        case .folder(let folder, let reason):
            return CommandError(.unavailable, "\(subject) cannot write to the folder \(folder): \(reason)")
        case .givenUp:
            return CommandError(.timeout, "\(subject) did not answer in time")
        }
    }
}
