import JSON

/// The connection of a call as the router uses it: where replies go, and which calls are waiting.
protocol RoutedConnection: CallConnection {
    /// Why calls of this command are refused on the connection's socket; nil if they are not.
    /// - Parameter entry: the command's; nil if none is mapped.
    func refusal(of command: String, _ entry: MappingEntry?) -> CommandError?

    /// Why no further call may wait now, as `overloaded`; nil if one may.
    var overload: CommandError? { get }

    /// Writes one line. Called on any thread; never blocks.
    func write(_ line: (OutputBuffer) -> Void)

    /// A call of this connection waits.
    func add(_ call: WaitingCall)

    /// The call no longer waits.
    func remove(_ call: WaitingCall)
}
