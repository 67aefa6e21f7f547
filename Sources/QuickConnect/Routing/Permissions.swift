import JSON

/// Who may do what, where it is not the socket's list that says it.
public struct Permissions: Sendable {
    private let ownUID: UInt32

    /// - Parameter ownUID: the daemon's user, who may do everything.
    public init(ownUID: UInt32) { self.ownUID = ownUID }

    /// Whether no rule applies to a caller: root, the daemon's own user, the daemon itself.
    public func isPrivileged(_ caller: Caller) -> Bool { caller.isPrivileged(ownUID: ownUID) }

    /// Whether the caller may end or stop what another caller started: root, the daemon's user, the same user.
    public func mayEnd(_ caller: Caller) -> @Sendable (_ other: Caller) -> Bool {
        let isPrivileged = isPrivileged(caller)
        return { other in isPrivileged || caller.isSameUser(as: other) }
    }

    /// Why a caller may not run a command; nil where it may.
    func refusal(by entry: MappingEntry, _ caller: @autoclosure () -> Caller) -> CommandError? {
        // Most commands have no rule, and who calls need not be asked.
        guard let rule = entry.rule else { return nil }
        let caller = caller()
        if isPrivileged(caller) || rule.names(caller) { return nil }
        return .denied(entry.command, rule)
    }
}

extension CommandError {
    /// `denied`, with the rule, where it is written, and the line that would allow it to one more user.
    static func denied(_ command: String, _ rule: AllowRule) -> CommandError {
        let users = (rule.userNames + ["NAME"]).joined(separator: ", ")
        let groups = rule.groupNames.isEmpty ? "" : ", groups: [\(rule.groupNames.joined(separator: ", "))]"
        let line = "\(command): {allow: {users: [\(users)]\(groups)}}"
        let sentence = """
            \(command) is allowed to \(rule.words) (\(rule.location)); \
            the line «\(line)» in a file of the mappings folder would allow it
            """
        return CommandError(
            .denied,
            sentence,
            details: [
                "rule": .string(rule.words), "location": .string(rule.location.description), "allow": .string(line),
            ]
        )
    }
}
