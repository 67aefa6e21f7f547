import QuickConnectClient

/// A command that this session answers: `script:NAME` in its mapping.
///
/// A new one is a file, its line and its name in ``QuickConnectPicker``, and its entry in a file of `mappings/`.
protocol SessionCommand: Sendable {
    /// The command, which is also the handler's name.
    var name: String { get }
    /// How many calls may be under way at once.
    var atOnce: Int { get }

    /// - Parameter device: the daemon, for what has to be told or kept.
    /// - Throws: ``HandlerCall/Failure``.
    func answer(_ call: HandlerCall, _ device: DeviceClient) async throws -> HandlerCall.Answer
}
