import JSON

/// The connection of a call, as the router uses it: where replies go, and who may end the calls that wait.
protocol RoutedConnection: CallConnection {
    /// Why no call of this command is taken on the socket that the connection came by; nil where one is.
    func refusal(of command: String) -> CommandError?

    /// Why no other call may wait now, as `overloaded`; nil where one may.
    var lackOfRoom: CommandError? { get }

    /// Writes one line. Any thread; never blocks.
    func write(_ line: (OutputBuffer) -> Void)

    /// A call of this connection waits.
    func add(_ call: WaitingCall)

    /// It waits no more.
    func remove(_ call: WaitingCall)
}
