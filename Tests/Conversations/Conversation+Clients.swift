extension Conversation {
    /// Those that can be held through a client library, which says what its user wants in lines of its own.
    public static let throughClients = (calls + handlers + events).filter { !aboutLines.contains($0.description) }

    /// What they show is what the lines look like, or beyond which bound they are refused, and a library stays within it.
    private static let aboutLines: Set = [
        "A handler answers another client's call, which waits without holding up others",
        "More waiting calls than the limit are overloaded, while others still run",
        "Answers and errors are never answered",
        "A handler that asks for it hears of calls whose answer nobody waits for, and another one does not",
    ]
}
