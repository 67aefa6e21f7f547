/// What the system tells of a caller's process, as it was when it connected. For the log only: a process can change its
/// own name.
public struct CallingProcess: Sendable, Hashable {
    /// The systemd unit that it belongs to, such as `session-2.scope`, or `user@1000.service` for a user's own units.
    public var unit: String?
    /// The kernel's name of it, 15 bytes at most.
    public var program: String?

    /// A process, by its systemd unit and the kernel's name of its program.
    public init(unit: String?, program: String?) {
        self.unit = unit
        self.program = program
    }
}
