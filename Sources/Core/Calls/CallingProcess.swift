internal import Synchronization

/// What the system knows about a caller's process at the time it connected. For the log only: a process can change its
/// own name.
public struct CallingProcess: Sendable {
    /// The systemd unit that it belongs to, such as `session-2.scope`, or `user@1000.service` for a user's own units.
    public var unit: String?
    /// The kernel's name for it, at most 15 bytes.
    public var program: String?
    private let whole: WholeName?

    /// The whole name of a program whose name the kernel has cut, once it is known.
    public final class WholeName: Sendable {
        private let text = Mutex<String?>(nil)

        /// A name that is not known yet.
        public init() {}

        /// The name is known.
        public func set(_ name: String?) { text.withLock { $0 = name } }

        fileprivate var value: String? { text.withLock { $0 } }
    }

    /// A process, given by its systemd unit and the kernel's name for its program.
    /// - Parameter whole: nil if the kernel's name is whole.
    public init(unit: String?, program: String?, whole: WholeName? = nil) {
        self.unit = unit
        self.program = program
        self.whole = whole
    }

    /// The program's name, whole if it is known.
    public var name: String? { whole?.value ?? program }
}
