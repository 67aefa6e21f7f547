import JSON
import QuickConnect

/// Checks the options of `rec`: `{rate, channels, limit, gain, shared, wait}`.
struct RecordAudioValCO: ValCO {

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try RecordingStart(call))
    }
}

/// How a recording starts.
struct RecordingStart: Sendable {
    var options: RecordingOptions
    /// Whether the call is answered when the recording has ended.
    var waits: Bool

    /// The parameters `[file, action, options]`.
    init(_ call: borrowing Call) throws(CommandError) {
        let known = ["rate", "channels", "limit", "gain", "shared", "wait"]
        var options = try OptionReader(call.object(2), field: "/2", known: known)
        self.options = RecordingOptions(
            rate: options.integer("rate", in: 8000...192_000, "frames a second") ?? 48_000,
            channels: options.integer("channels", in: 1...2, "1 is mono") ?? 1,
            limit: options.number("limit", in: 0.1...86_400, "seconds"),
            gain: options.number("gain", in: -60...60, "decibels") ?? 0,
            isShared: options.boolean("shared") ?? false
        )
        waits = options.boolean("wait") ?? false
        try options.finish()
    }
}
