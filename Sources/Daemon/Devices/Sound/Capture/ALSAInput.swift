/// Where recordings come from.
public enum ALSAInput: Sendable {
    /// A PCM of ALSA's configuration, such as `default` or `plughw:1,0`.
    case named(String)
    /// A microphone for machines without sound: ALSA's `null` plugin, with a quiet tone added.
    case simulated

    func open() throws(StreamFailure) -> PCM {
        do throws(ALSAError) {
            switch self {
            case .named(let name): return try PCM.open(name, .capture)
            case .simulated: return try PCM.open("simulated", of: try ConfigurationTree(Self.configuration), .capture)
            }
        } catch {
            throw .alsa(error)
        }
    }

    private static let configuration = "pcm.simulated { type null }"

    /// A tone added to what the PCM captures.
    var tone: Tone? {
        switch self {
        case .named: nil
        case .simulated: Tone(hertz: 440, level: 0.1)
        }
    }
}

extension ALSAInput: CustomStringConvertible {
    public var description: String {
        switch self {
        case .named(let name): "the capture PCM \(name)"
        case .simulated: "the simulated capture PCM"
        }
    }
}
