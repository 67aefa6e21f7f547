import QuickConnect

/// A call, as its client sends it.
struct Line: Sendable {
    /// Of all calls of the history; it is among the parameters, so that every trace of the call shows which it was.
    var serial: Int
    var command: String
    /// In JSON.
    var arguments: [String]
    /// Whether the one argument is sent without a list around it.
    var isBare = false
    var form: WireForm
    var id: String?

    var data: String { isBare ? arguments[0] : "[\(arguments.joined(separator: ","))]" }
}

/// What a client answers for its handler.
enum Answer: Hashable, Sendable {
    case value(String, under: String?, ends: Bool)
    case error(code: String)
}

/// What a waiting command object awaits.
struct GateKey: Hashable, Sendable, CustomStringConvertible {
    /// Of the call.
    var serial: Int
    var part: String
    var description: String { "\(part) of call \(serial)" }
}

/// A call to a handler.
struct QuestionKey: Hashable, Sendable, CustomStringConvertible {
    /// Of the call for which it is asked.
    var serial: Int
    /// Which of that call's questions it is, from 0.
    var number: Int
    var description: String { "question \(number) for call \(serial)" }
}

/// One thing that happens to a daemon.
enum Step: Sendable {
    case calls(Int, [Line])
    case settle(GateKey, Outcome)
    case answer(QuestionKey, Answer)
    /// An answer that answers nothing.
    case stray(Int)
    /// The time of those who have little is over.
    case alarm
    case endInput(Int)
    case close(Int)
    case reload(Int)
    /// No call shall wait any more.
    case finish
    /// What still waits is ended, as at the end of the time that a stopping daemon gives.
    case endAll
}
