/// Is told of calls that fail, for the log and for `explain`.
public protocol CallObserver: Sendable {
    /// Called on any thread, before the caller gets the error. Must not block.
    func failed(_ call: borrowing Call, with error: CommandError)

    /// Called on any thread when a call that touches a device has ended, and when any call was refused, either by a
    /// rule of its mapping (``Call/isRefused``) or by a command object (`denied`). Must not block.
    /// - Parameter time: the time from the call's arrival to its end.
    func ended(_ call: borrowing Call, after time: Duration)
}

extension CallObserver {
    /// Does nothing: an observer may be interested in failures only.
    public func ended(_ call: borrowing Call, after time: Duration) {}
}
