import QuickConnect

/// How a command object comes to its outcome.
enum Way: Hashable, Sendable {
    /// At once.
    case plain
    /// At once, though its kind may wait.
    case readily
    /// By an operation that is done as soon as it runs.
    case quick
    /// By a promise that a step of the history settles.
    case promise
    /// By an operation that awaits such a step.
    case operation
    /// The same, without heed of its cancellation.
    case deaf
    /// By a client's handler.
    case handler(String)
    /// As the daemon's own object of that name does.
    case shipped

    var waits: Bool { self != .plain && self != .shipped }
}

/// What comes of a command object: of those of all phases one list, of which each phase has its part.
enum Outcome: Hashable, Sendable {
    /// Accepts, or proceeds.
    case next
    /// Accepts, and hands on its name.
    case handOn
    /// Ends the stack with nothing.
    case end
    /// A result, or a reply, in JSON.
    case give(String, under: String?, ends: Bool)
    case fail(CommandError.Code)
}

/// A command object of a stack.
struct Part: Sendable {
    var name: String
    var phase: Phase
    var way: Way
    var outcome: Outcome
}

/// How long the calls of a command may wait.
enum Patience: Hashable, Sendable {
    /// As `default`'s, or for ever.
    case inherited
    /// Until the next `.alarm`.
    case short
    /// Longer than any history.
    case long

    var timeout: Duration? {
        switch self {
        case .inherited: nil
        // Over as soon as somebody looks, and nobody does before the alarm.
        case .short: .zero
        case .long: .seconds(3600)
        }
    }
}

/// A command and its stack.
struct MappedCommand: Sendable {
    var name: String
    var parts: [Part] = []
    var patience = Patience.inherited
    /// The connections whose users may call it; nil: all.
    var allowed: [Int]?
    /// Whether its one parameter is a number.
    var takesNumber = false

    func parts(of phase: Phase) -> [Part] { parts.filter { $0.phase == phase } }
}

/// What a daemon of a history is made of.
struct Device: Sendable {
    /// The mappings: those that it starts with, and those that a reload puts in place. `default` is the first of each.
    var tables: [[MappedCommand]]
    var maxCalls: Int
    var maxHandlers: Int
    var maxSubscriptions: Int
    var connections: Int

    static let users = ["alice", "bob", "carol"]
    static func user(_ connection: Int) -> String { users[connection % users.count] }
    static func uid(_ connection: Int) -> UInt32 { 1000 + UInt32(connection % users.count) }
    /// All but carol may answer for mappings, and make commands of handlers.
    static func mayHandleCommands(_ connection: Int) -> Bool { user(connection) != "carol" }

    /// The commands that every device has, done by the daemon's own command objects.
    static let shipped = [
        shipped("cancel", (.business, "CancelBCO")),
        shipped("subscribe", (.validation, "SubscribeValCO"), (.business, "SubscribeBCO")),
        shipped("unsubscribe", (.business, "UnsubscribeBCO")),
        shipped("post", (.business, "PostBCO")),
        shipped("registerHandler", (.business, "RegisterHandlerBCO")),
        shipped("removeHandler", (.business, "RemoveHandlerBCO")),
    ]

    private static func shipped(_ command: String, _ objects: (Phase, String)...) -> MappedCommand {
        MappedCommand(
            name: command,
            parts: objects.map { Part(name: $1, phase: $0, way: .shipped, outcome: .next) }
        )
    }
}
