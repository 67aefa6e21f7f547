import QuickConnect

/// A call in the model.
final class Run {
    /// What a call awaits.
    struct Wait {
        var part: Part
        /// Where a handler is asked.
        var question: Question?
    }

    let line: Line
    let connection: Int
    /// Those of the three phases that run, in their order.
    let parts: [Part]
    let errorParts: [Part]
    let isShort: Bool

    var index = 0
    var error: CommandError.Code?
    var results: [String] = []
    var resultCommand: String?
    var handedOn: [String] = []
    var hasReplied = false
    var leavesOutWaitingErrorParts = false
    var questionCount = 0

    /// Whether it waits, or has waited and is not over.
    var isKept = false
    var waiting: Wait?
    /// While its command objects run: what its next wait ends with.
    var interruption: CommandError.Code?
    /// Whether it has been interrupted, and so does not wait any more.
    var isInterrupted = false

    init(_ line: Line, _ connection: Int, _ command: MappedCommand, behind defaults: MappedCommand) {
        self.line = line
        self.connection = connection
        parts = [Phase.validation, .business, .view].flatMap { defaults.parts(of: $0) + command.parts(of: $0) }
        errorParts = defaults.parts(of: .error) + command.parts(of: .error)
        isShort = (command.patience == .inherited ? defaults.patience : command.patience) == .short
    }

    var arguments: String { line.arguments.joined(separator: ",") }
    var mayWait: Bool { (parts + errorParts).contains { $0.way.waits } }

    /// The next command object; nil at the end.
    func next() -> Part? {
        let all = error == nil ? parts : errorParts
        while index < all.count {
            index += 1
            let part = all[index - 1]
            if error == nil || !leavesOutWaitingErrorParts || !part.way.waits { return part }
        }
        return nil
    }

    func end() { index = error == nil ? parts.count : errorParts.count }

    /// The first error begins the error phase; one of the error phase only passes over what failed.
    func fail(_ code: CommandError.Code) {
        guard error == nil else { return }
        error = code
        index = 0
    }
}

/// A call to a handler.
struct Question {
    var key: QuestionKey
    var handler: String
    var client: Int
    /// Whether its client hears where nobody waits any more.
    var isTold: Bool
}
