import JSON
import QuickConnect

/// Checks the options of `rec`: `{rate, channels, limit, gain}`.
struct RecordAudioValCO: CommandObject {
    let phase = Phase.validation

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        _ = try RecordingOptions(call)
        return .proceed
    }
}

extension RecordingOptions {
    /// What the parameters `[file, action, options]` say.
    init(_ call: borrowing Call) throws(CommandError) {
        var options = OptionReader(call[2]?.objectValue ?? [:], field: "/2")
        self.init(
            rate: options.integer("rate", in: 8000...192_000, "frames a second") ?? 48_000,
            channels: options.integer("channels", in: 1...2, "1 is mono") ?? 1,
            limit: options.number("limit", in: 0.1...86_400, "seconds"),
            gain: options.number("gain", in: -60...60, "decibels") ?? 0
        )
        try options.finish()
    }
}
