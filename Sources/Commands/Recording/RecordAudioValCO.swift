import JSON
import QuickConnect

/// Checks the options of `rec`: `{rate, channels, limit, gain}`.
struct RecordAudioValCO: ValCO {

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try RecordingOptions(call))
    }
}

extension RecordingOptions {
    /// The parameters `[file, action, options]`.
    init(_ call: borrowing Call) throws(CommandError) {
        var options = try OptionReader(call.object(2), field: "/2", known: ["rate", "channels", "limit", "gain"])
        self.init(
            rate: options.integer("rate", in: 8000...192_000, "frames a second") ?? 48_000,
            channels: options.integer("channels", in: 1...2, "1 is mono") ?? 1,
            limit: options.number("limit", in: 0.1...86_400, "seconds"),
            gain: options.number("gain", in: -60...60, "decibels") ?? 0
        )
        try options.finish()
    }
}
