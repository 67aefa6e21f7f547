internal import Glibc
internal import JSON
internal import MediaFolder
internal import QuickConnect

/// The parameters of a recording, checked against what its format supports.
struct RecordingPlan {
    let name: MediaName
    let format: RecordingFormat
    let options: RecordingOptions
    /// Frames after which it ends by itself.
    let maxFrames: Int
    /// The factor for every sample.
    let factor: Float

    /// - Throws: `invalid`, with everything that does not fit.
    init(_ file: String, _ options: RecordingOptions, _ settings: ALSARecorder.Settings) throws(CommandError) {
        name = try MediaName(file)
        guard let format = RecordingFormat(ending: name.ending) else {
            let expected = "file, a name that ends in \(RecordingFormat.endings)"
            throw .invalid("/0", expected: expected, got: JSONValue.string(file).gist)
        }
        // An owner may set any limit, so it is bounded to keep the number of frames in range.
        let limit = min(options.limit ?? settings.limit, 1e9)
        let frames = Int((limit * Double(options.rate)).rounded())
        let most = format.maxFrames(channels: options.channels)
        var problems = FieldProblems()
        if !format.takes(rate: options.rate) {
            problems.add("/2/rate", expected: Self.rates(format), got: "\(options.rate)")
        }
        if options.limit != nil, let most, frames > most {
            let seconds = most / options.rate
            problems.add(
                "/2/limit",
                expected: "limit, at most \(seconds) s for a WAV file",
                got: JSONValue.number(limit).gist
            )
        }
        guard problems.isEmpty else { throw problems.error }
        self.format = format
        self.options = options
        maxFrames = min(frames, most ?? frames)
        factor = Float(pow(10, options.gain / 20))
    }

    private static func rates(_ format: RecordingFormat) -> String {
        switch format {
        case .opus: "rate, for Opus one of \(RecordingFormat.opusRates.map(String.init).joined(separator: ", "))"
        default: "rate, \(RecordingFormat.rates.lowerBound) to \(RecordingFormat.rates.upperBound)"
        }
    }
}
