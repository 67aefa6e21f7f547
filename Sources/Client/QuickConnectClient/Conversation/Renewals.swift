/// What stood before its connection was lost, and is refused for a while over the next one: the daemon may still know a
/// handler's name from the lost connection (`busy`), or keep too much for this user at the moment (`overloaded`). It is
/// said again, so that a moment's trouble does not end what was meant for a year.
struct Renewals {
    private static let pause = Duration.seconds(1)
    private static let passing: Set<String> = ["busy", "overloaded"]

    private var waiting: [ClientConversation.Standing] = []
    private var dueAt: ClientConversation.Instant?
    /// The last time that the conversation was told.
    private var now: ClientConversation.Instant?

    /// Returns whether it is kept.
    mutating func add(_ standing: ClientConversation.Standing, refused failure: CallFailure) -> Bool {
        guard Self.passing.contains(failure.code) else { return false }
        if waiting.isEmpty { dueAt = now.map { $0 + Self.pause } }
        // One that was given other options meanwhile is refused twice.
        if !waiting.contains(standing) { waiting.append(standing) }
        return true
    }

    /// A new connection is told everything anyway.
    mutating func clear() { waiting = [] }

    var nextDeadline: ClientConversation.Instant? { waiting.isEmpty ? nil : dueAt }

    /// What is to be said again now.
    mutating func takeDue(at now: ClientConversation.Instant) -> [ClientConversation.Standing] {
        self.now = now
        guard !waiting.isEmpty, dueAt.map({ $0 <= now }) ?? true else { return [] }
        defer { waiting = [] }
        return waiting
    }
}
