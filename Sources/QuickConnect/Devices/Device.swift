public import JSON

/// What the commands that concern every device (`state`, `stop`) need of one.
///
/// Callers: the command objects, on any thread, at any time between the daemon's start and its end. No function
/// of a device protocol may block: what takes time happens on the device's own thread and settles a ``Promise``.
public protocol Device: Sendable {
    /// What the device does now: members for the answer of `state`, such as `"playing": […]`.
    func state() -> JSONObject

    /// Ends, at once, all that the device does and that `caller` may end. Calls that wait for it get `cancelled`.
    /// - Parameter mayEnd: whether the caller may end what that other caller started.
    func stop(mayEnd: @Sendable (Caller) -> Bool)
}
