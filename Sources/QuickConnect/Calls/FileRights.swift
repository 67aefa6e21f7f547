/// For whom a file of the media folder is read, written or removed, and what the rules say of that caller.
public struct FileRights: Sendable {
    /// Who asks.
    public let caller: Caller
    /// Whether no rule applies: root, the daemon's user, the daemon itself.
    public let isPrivileged: Bool
    /// Whether `verbs` of the mapping lets this caller do with everybody's files what it asks for.
    public let isGranted: Bool

    /// The rights of a caller; `isPrivileged` for root and the daemon's user, `isGranted` where a mapping lets it.
    public init(_ caller: Caller, isPrivileged: Bool, isGranted: Bool = false) {
        self.caller = caller
        self.isPrivileged = isPrivileged
        self.isGranted = isGranted
    }

    /// What the daemon does by itself.
    public static let daemon = FileRights(.daemon, isPrivileged: true)

    /// The one rule of who may read, replace or remove a file: its owner, root and the daemon's user, and those whom
    /// `verbs` names. Who may call the command at all was asked before.
    public func mayChange(fileOf owner: Owner) -> Bool { isPrivileged || isGranted || caller.owner == owner }
}
