internal import JavaScriptCore
internal import Linux
internal import QuickConnect

/// The process of the macros: a script that has no text of its own.
extension ScriptRunner: MacroNatives {
    func runs(_ macro: String) { stopper.runs(macro) }

    /// Takes in what has changed in the folders of macros. Each text is a turn of its own, so that many of them pass no
    /// limit.
    func lookAtMacros() {
        // Another folder has one of the names, and this process may not read that: the host begins another process.
        if macros != nil, ground?.isStale ?? false {
            write("warning", "a folder of macros is another one now: the macros start anew")
            return status = 0
        }
        for change in macros?.changes(telling: { write("error", $0) }) ?? [] {
            inMacros { runtime throws(JSError) in try runtime.take(change) }
        }
    }

    /// Posts that a macro lets its caller wait too long.
    func tellLate(_ handler: String, _ sentence: String) {
        inMacros { runtime throws(JSError) in try runtime.late(handler, sentence) }
    }

    private func inMacros(_ body: (MacroRuntime) throws(JSError) -> Void) {
        guard let macroRuntime else { return }
        // In the middle of a turn that waits, the next macro to run has the new text; what runs stays.
        if isInTurn { return attempt { () throws(JSError) in try body(macroRuntime) } }
        turn { _ throws(JSError) in try body(macroRuntime) }
    }

    /// Takes the host's orders that are there: who is told that a macro is saved runs the new text.
    func heedOrders() {
        guard macros != nil, let channel else { return }
        while status == nil, heed(channel) {}
    }
}
