/// Commands that mean nothing over a broker.
public enum FleetCommands {
    /// What holds for a connection, which a caller over a broker has none of, and what the gateway says itself.
    public static let ofConnections: Set<String> = [
        "actFor", "subscribe", "unsubscribe", "registerHandler", "removeHandler", "cancel",
    ]
}
