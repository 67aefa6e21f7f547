public import JSON

/// Where a connection's lines go: the transport, as the conversation sees it.
public protocol ConnectionOutput: Sendable {
    /// Takes one line, which `line` writes. Called on any thread; must not block.
    func write(_ line: (OutputBuffer) -> Void)

    /// Takes a call to a handler of the client. While calls wait until the client reads, their callers take turns.
    /// - Parameters:
    ///   - number: the number of the call.
    ///   - isLong: whether it has so many bytes that it must wait for its caller's turn.
    func writeCall(_ number: Int, from caller: Caller, isLong: Bool, _ line: (OutputBuffer) -> Void)

    /// Takes the line that cancels such a call, which comes behind the call.
    func writeCancel(ofCall number: Int, _ line: (OutputBuffer) -> Void)

    /// Takes an event. While the client is slow, a newer event of a sensor may replace it.
    func send(_ event: Event, form: WireForm)

    /// The client has ended its input and has received all its replies: the connection may be closed.
    func finish()
}

extension ConnectionOutput {
    /// The line, like any other: for outputs that keep nothing back.
    public func writeCall(_ number: Int, from caller: Caller, isLong: Bool, _ line: (OutputBuffer) -> Void) {
        write(line)
    }

    /// The line, like any other.
    public func writeCancel(ofCall number: Int, _ line: (OutputBuffer) -> Void) { write(line) }
}
