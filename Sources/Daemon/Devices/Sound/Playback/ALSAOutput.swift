/// Where the sound goes.
public enum ALSAOutput: Sendable {
    /// A PCM of ALSA's configuration, such as `default` or `plughw:1,0`.
    case named(String)
    /// Files instead of a loudspeaker.
    case simulated(SimulatedSpeaker)

    func open() throws(StreamFailure) -> PCM {
        switch self {
        case .named(let name):
            do { return try PCM.open(name, .playback) } catch { throw .alsa(error) }
        case .simulated(let speaker):
            return try speaker.open()
        }
    }

    var isSimulated: Bool { if case .simulated = self { true } else { false } }

    /// The factor for every sample. If there is a mixer, the mixer sets the volume and this is 1.
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
