/// On whose behalf a file of the media folder is read, written or removed, and what the rules allow that caller.
public struct FileRights: Sendable {
    /// The caller.
    public let caller: Caller
    /// Whether no rule applies: root, the daemon's user, the daemon itself.
    public let isPrivileged: Bool
    /// Whether `verbs` of the mapping lets this caller do this to everybody's files.
    public let isGranted: Bool

    /// The rights of a caller; `isPrivileged` for root and the daemon's user, `isGranted` if a mapping grants it.
    public init(_ caller: Caller, isPrivileged: Bool, isGranted: Bool = false) {
        self.caller = caller
        self.isPrivileged = isPrivileged
        self.isGranted = isGranted
    }

    /// The rights of the daemon's own actions.
    public static let daemon = FileRights(.daemon, isPrivileged: true)

    /// The one rule for who may read, replace or remove a file: its owner, root and the daemon's user, and the callers
    /// that `verbs` names. Whether the caller may call the command at all was checked before.
    public func mayChange(fileOf owner: Owner) -> Bool { isPrivileged || isGranted || caller.owner == owner }
}
