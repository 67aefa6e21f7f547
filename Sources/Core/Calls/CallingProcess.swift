/// What the system knows about a caller's process at the time it connected. For the log only: a process can change its
/// own name.
public struct CallingProcess: Sendable, Hashable {
    /// The systemd unit that it belongs to, such as `session-2.scope`, or `user@1000.service` for a user's own units.
    public var unit: String?
    /// The kernel's name for it, at most 15 bytes.
    public var program: String?
    /// The whole name, where the kernel has cut it and the command line tells it.
    public var wholeName: String?

    /// A process, given by its systemd unit and the kernel's name for its program.
    public init(unit: String?, program: String?, wholeName: String? = nil) {
        self.unit = unit
        self.program = program
        self.wholeName = wholeName
    }

    /// The program's name, whole if it is known.
    public var name: String? { wholeName ?? program }
}
