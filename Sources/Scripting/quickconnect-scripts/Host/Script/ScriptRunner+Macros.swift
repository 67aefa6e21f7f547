internal import JavaScriptCore
internal import Linux

/// The process of the macros: a script without a text of its own.
extension ScriptRunner {
    /// A macro begins to run.
    func runs(_ macro: String) { stopper.runs(macro) }

    /// Applies the change of a macro. Each is a turn of its own, so that many of them exceed no limit.
    func take(_ change: MacroChange) {
        guard macros != nil else { return }
        // Another folder has its name, and this process may not read that: the host begins another process.
        if ground?.isStale ?? false {
            write("warning", "the folder of macros was replaced; the macros restart")
            return status = 0
        }
        inMacros { runtime throws(JSError) in try runtime.take(change) }
    }

    /// Posts that a macro makes its caller wait too long.
    func reportLate(_ handler: String, _ sentence: String) {
        inMacros { runtime throws(JSError) in try runtime.late(handler, sentence) }
    }

    private func inMacros(_ body: (MacroRuntime) throws(JSError) -> Void) {
        guard let macroRuntime else { return }
        // During a turn that waits, macros started later use the new text; running ones keep the old one.
        if isInTurn { return attempt { () throws(JSError) in try body(macroRuntime) } }
        turn { _ throws(JSError) in try body(macroRuntime) }
    }

    /// Carries out the host's orders: a caller who is told that a macro is saved must get the new text.
    func handleOrders() {
        guard macros != nil, let channel else { return }
        handle(channel)
    }
}
