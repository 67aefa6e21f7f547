import JSON
import QuickConnect

/// Checks the options of `play`: `{volume, from, wait}`, which are only allowed for a start.
struct PlayAudioValCO: ValCO {

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try PlayOptions(call))
    }
}

extension PlayOptions {
    /// The parameters `[file, action, loops, options]`. −1 loops means forever.
    init(_ call: borrowing Call) throws(CommandError) {
        var options = try OptionReader(call.object(3), field: "/3", known: ["volume", "from", "wait"])
        let loops = call.integer(2) ?? 0
        self.init(
            loops: loops < 0 ? nil : Int(clamping: loops),
            volume: options.number("volume", in: 0...100, "per cent") ?? 100,
            from: options.number("from", in: 0...1e9, "seconds") ?? 0,
            waits: options.boolean("wait") ?? false
        )
        try options.finish()
    }
}
