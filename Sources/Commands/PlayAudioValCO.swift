import JSON
import QuickConnect

/// Checks the options of `play`: `{volume, from}`, which only a start takes.
struct PlayAudioValCO: CommandObject {
    let phase = Phase.validation

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        _ = try PlayOptions(call)
        return .proceed
    }
}

extension PlayOptions {
    /// What the parameters `[file, action, loops, options]` say. −1 loops are for ever.
    init(_ call: borrowing Call) throws(CommandError) {
        var options = OptionReader(call[3]?.objectValue ?? [:], field: "/3")
        let loops = call[2]?.integerValue ?? 0
        self.init(
            loops: loops < 0 ? nil : Int(clamping: loops),
            volume: options.number("volume", in: 0...100, "per cent") ?? 100,
            from: options.number("from", in: 0...1e9, "seconds") ?? 0
        )
        try options.finish()
    }
}
