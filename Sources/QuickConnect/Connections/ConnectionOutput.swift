public import JSON

/// Where a connection's lines go: the transport, as the conversation sees it.
public protocol ConnectionOutput: Sendable {
    /// Takes one line, which `line` writes. Called on any thread; must not block.
    func write(_ line: (OutputBuffer) -> Void)

    /// Takes an event. While the client is slow, a newer event of a sensor may replace it.
    func send(_ event: Event, form: WireForm)

    /// The client has ended its input and has received all its replies: the connection may be closed.
    func finish()
}
