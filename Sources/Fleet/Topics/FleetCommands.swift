/// Commands that are not useful over a broker.
package enum FleetCommands {
    /// Commands about a connection, which a caller over a broker does not have, and what the gateway itself sends.
    package static let ofConnections: Set<String> = [
        "actFor", "subscribe", "unsubscribe", "registerHandler", "removeHandler", "cancel",
    ]
}
