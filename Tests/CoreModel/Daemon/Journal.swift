import JSON
import QuickConnect
import Synchronization

/// What a daemon does, in its order, and what its command objects await.
final class Journal: Sendable {
    private struct State {
        var notes: [String] = []
        var gates: [GateKey: @Sendable (Outcome) -> Void] = [:]
    }

    private let state = Mutex(State())

    func note(_ text: String) { state.withLock { $0.notes.append(text) } }

    /// What was noted since the last time.
    func take() -> [String] {
        state.withLock { state in
            defer { state.notes = [] }
            return state.notes
        }
    }

    func keep(_ key: GateKey, _ open: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { $0.gates[key] = open }
    }

    func open(_ key: GateKey, _ outcome: Outcome) { state.withLock { $0.gates[key] }?(outcome) }

    /// Lets go of operations that heed nothing.
    func openAll() { for open in state.withLock({ Array($0.gates.values) }) { open(.end) } }

    /// Lets go of what is awaited: it knows its command objects, which know this journal.
    func forget() { state.withLock { $0.gates = [:] } }
}

/// Tells of failures.
struct FailureNotes: CallObserver {
    let journal: Journal

    func failed(_ call: borrowing Call, with error: CommandError) {
        journal.note(Told.failed(call.command, call.allArguments, error.code.rawValue))
    }
}

extension Call {
    /// All arguments, in JSON.
    var allArguments: String {
        var texts: [String] = []
        for index in 0..<argumentCount { texts.append(argument(index).value.text) }
        return texts.joined(separator: ",")
    }

    /// Of the history's calls, which it is.
    var serial: Int {
        let text = argumentCount == 0 ? "" : argument(argumentCount - 1).value.text
        return Int(text.filter(\.isNumber)) ?? 0
    }
}

extension JSONValue {
    /// The value as traces tell it. Of a warning the words are not the model's.
    var told: String { objectValue?["warning"] == nil ? text : #"{"warning"}"# }
}
