public import JSON

/// What the commands that concern every device (`state`, `stop`) need from it.
///
/// Callers: the command objects, on any thread, at any time between the daemon's start and its end. No function of a
/// device protocol may block: slow work runs on the device's own thread and settles a ``Promise``.
public protocol Device: Sendable {
    /// What the device does now: members for the reply of `state`, such as `"playing": […]`.
    func state() -> JSONObject

    /// Ends at once everything the device does that the caller may end. Calls that wait for it get `cancelled`.
    /// - Parameter mayEnd: whether the caller may end what the given caller started.
    func stop(mayEnd: @Sendable (Caller) -> Bool)
}
