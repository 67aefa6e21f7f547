internal import JavaScriptCore
internal import QuickConnect

/// The process of the macros: a script that has no text of its own.
extension ScriptRunner: MacroNatives {
    func runs(_ macro: String) { stopper.runs(macro) }

    /// Takes in what has changed in the folders of macros.
    func lookAtMacros() {
        guard let runtime, let changes = macros?.changes(telling: { write("error", $0) }) else { return }
        // In the middle of a turn that waits, the next one to run has the new text; what runs stays.
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.put(changes) } }
        attempt { () throws(JSError) in try runtime.put(changes) }
    }

    /// Posts that a macro lets its caller wait too long.
    func tellLate(_ handler: String, _ sentence: String) {
        guard let runtime else { return }
        guard isInTurn else { return turn { runtime throws(JSError) in try runtime.late(handler, sentence) } }
        attempt { () throws(JSError) in try runtime.late(handler, sentence) }
    }

    /// Takes the host's orders that are there: who is told that a macro is saved runs the new text.
    func heedOrders() {
        guard macros != nil, let channel else { return }
        while status == nil, heed(channel) {}
    }
}
